// What a figure was measured on, without which it says nothing.
import { cpus, loadavg } from 'node:os'
import pg from 'pg'

export interface Machine {
  readonly node: string
  readonly cores: number
  /** Of the last minute, before the run: other people's work shows in it. */
  readonly load: string
  readonly postgres: string
  /** Without these two every ratio would mean something else. */
  readonly durability: string
}

export async function about(postgres: string | undefined): Promise<Machine> {
  return {
    node: process.versions.node,
    cores: cpus().length,
    load: (loadavg()[0] ?? 0).toFixed(1),
    ...(await server(postgres)),
  }
}

async function server(url: string | undefined): Promise<Pick<Machine, 'postgres' | 'durability'>> {
  if (url === undefined) return { postgres: 'none', durability: 'none' }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
              current_setting('synchronous_commit') as commit`,
    )
    const { version, fsync, commit } = rows[0] as Record<'version' | 'fsync' | 'commit', string>
    return { postgres: version, durability: `fsync=${fsync} synchronous_commit=${commit}` }
  } finally {
    await client.end()
  }
}
