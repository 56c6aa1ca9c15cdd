/** How the servers are set up: what makes them forget records is found out at the start, and said. */
import type { Connection, Server } from './connection.ts'

export interface Finding {
  readonly code:
    | 'ONCEKEY_REDIS_EVICTS'
    | 'ONCEKEY_REDIS_FORGETS_AT_RESTART'
    | 'ONCEKEY_REDIS_REPLICA'
    | 'ONCEKEY_REDIS_UNCHECKED'
  readonly says: string
}

/** One of each kind, of all primaries; never throws. */
export async function examine(connection: Connection): Promise<readonly Finding[]> {
  try {
    const found = (await Promise.all((await connection.primaries()).map(examined))).flat()
    return [...new Map(found.map((finding) => [finding.code, finding])).values()]
  } catch (error) {
    return [unchecked(String(error))]
  }
}

async function examined(server: Server): Promise<Finding[]> {
  const info = await factsOf(server)
  if (!info) return [unchecked('INFO is refused')]
  const found: Finding[] = []
  const policy = info.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction')
    found.push({
      code: 'ONCEKEY_REDIS_EVICTS',
      says: `maxmemory-policy is ${policy}: when its memory is full, the server drops records, and their operations run again. Set noeviction.`,
    })
  if (info.get('role') === 'slave')
    found.push({
      code: 'ONCEKEY_REDIS_REPLICA',
      says: 'This server is a replica: it decides nothing, and every claim is refused. Connect to the primary.',
    })
  if (info.get('aof_enabled') !== '1') {
    const saves = await savesOf(server)
    if (saves === undefined)
      found.push(unchecked('the append-only file is off, and CONFIG GET save is refused: see what the provider keeps'))
    else
      found.push({
        code: 'ONCEKEY_REDIS_FORGETS_AT_RESTART',
        says: saves
          ? 'The append-only file is off: after a crash everything since the last snapshot is gone, and runs again. Set appendonly yes.'
          : 'Nothing is kept on disk: after a restart every record is gone, and every operation runs again. Set appendonly yes.',
      })
  }
  return found
}

/** INFO is there where CONFIG is refused, as managed servers do. */
async function factsOf(server: Server): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const sections = await Promise.all(
      ['memory', 'persistence', 'replication'].map((name) => server.command('INFO', name)),
    )
    return new Map(
      sections.flatMap((section) =>
        String(section)
          .split(/\r?\n/)
          .filter((line) => line.includes(':'))
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const),
      ),
    )
  } catch {
    return undefined
  }
}

async function savesOf(server: Server): Promise<boolean | undefined> {
  try {
    const reply = await server.command('CONFIG', 'GET', 'save')
    const values = Array.isArray(reply) ? reply.slice(1) : Object.values(reply as object)
    return values.some((value) => String(value) !== '')
  } catch {
    return undefined
  }
}

function unchecked(why: string): Finding {
  return {
    code: 'ONCEKEY_REDIS_UNCHECKED',
    says: `It could not be checked whether the server may forget records (${why}).`,
  }
}
