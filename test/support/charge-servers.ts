// Starts the small payments API as processes, on one database, and counts what is in it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import Database from 'libsql'
import { onTestFinished } from 'vitest'
import { root, temporaryFolder } from './command.ts'
import { onPostgres, postgresUrl } from './postgres.ts'

export interface Ground {
  readonly env: Readonly<Record<string, string>>
  charges(): Promise<number>
  /** How often the work began, told outside of its transaction. */
  starts(): Promise<number>
}

export async function sqliteGround(): Promise<Ground> {
  const path = `${temporaryFolder()}/charges.db`
  const db = new Database(path, { timeout: 5_000 })
  db.exec('pragma journal_mode = wal; create table charge (id integer primary key, amount integer not null)')
  onTestFinished(() => void db.close())
  return {
    env: { STORE: path },
    charges: async () => (db.prepare('select count(*) as n from charge').get() as { n: number }).n,
    async starts() {
      const apart = new Database(`${path}-starts`, { timeout: 5_000 })
      try {
        return (apart.prepare('select count(*) as n from start').get() as { n: number }).n
      } finally {
        apart.close()
      }
    },
  }
}

export async function postgresGround(mode: 'transaction' | 'lease'): Promise<Ground> {
  const schema = `t_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`
  await onPostgres(`create schema ${schema};
    create table ${schema}.charge (id bigint generated always as identity, amount integer not null);
    create table ${schema}.start (id bigint generated always as identity)`)
  onTestFinished(async () => void (await onPostgres(`drop schema ${schema} cascade`)))
  await migrated(schema, mode)
  const count = async (table: string) =>
    Number((await onPostgres(`select count(*) as n from ${schema}.${table}`)).rows[0].n)
  return { env: { STORE: postgresUrl(), SCHEMA: schema }, charges: () => count('charge'), starts: () => count('start') }
}

async function migrated(schema: string, mode: 'transaction' | 'lease'): Promise<void> {
  const { default: pg } = await import('pg')
  const { fromPg, postgres } = await import('oncekey/postgres')
  const { databaseOnly } = await import('oncekey')
  const pool = new pg.Pool({ connectionString: postgresUrl(), max: 2 })
  const database = fromPg(pool)
  const store =
    mode === 'transaction' ? postgres(database, { schema }) : postgres(database, { schema, mode, ...databaseOnly })
  await store.admin.migrate()
  await store[Symbol.asyncDispose]()
  await pool.end()
}

export interface ChargeServer {
  readonly url: string
  readonly ended: Promise<void>
}

/** Ends with the test. */
export async function chargeServer(env: Readonly<Record<string, string>>): Promise<ChargeServer> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/charge-server.ts'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const failed = ended.then(() => Promise.reject(new Error(`the server ended before it was ready: ${complaint}`)))
  failed.catch(() => {})
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed])) as [string]
  return { url: line.replace('ready ', ''), ended }
}

export interface Seen {
  readonly status: number
  readonly code: string | undefined
  readonly replayed: boolean
  readonly retryAfter: string | null
}

/** One request; status 0 where no answer came. */
export async function post(url: string, key: string, amount = 2500): Promise<Seen> {
  try {
    const response = await fetch(`${url}/charges`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ amount }),
    })
    const body = (await response.json()) as { code?: string }
    const replayed = response.headers.get('idempotent-replayed') === 'true'
    return { status: response.status, code: body.code, replayed, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { status: 0, code: undefined, replayed: false, retryAfter: null }
  }
}
