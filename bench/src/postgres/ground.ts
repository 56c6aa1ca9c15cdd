// What all contenders on Postgres share: a database of its own, the charges, and the floor below every protocol.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { ARTICLE_SCHEMA } from './article.ts'

export interface Ground extends AsyncDisposable {
  readonly url: string
  readonly pool: pg.Pool
  /** A pool of its own, ended with the ground. */
  open(settings: pg.PoolConfig & { readonly pipeline?: boolean }): pg.Pool
}

/** `synchronous_commit` stands at its default, on: without the fsync every ratio means something else. */
export async function ground(server: string, connections: number): Promise<Ground> {
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  const name = `oncekey_bench_${randomUUID().slice(0, 8)}`
  await admin.query(`create database ${name}`)
  const address = new URL(server)
  address.pathname = `/${name}`
  const url = address.href
  const pools: pg.Pool[] = []

  function open(settings: pg.PoolConfig): pg.Pool {
    // No connection is closed while others are measured: opening it again would count against its own.
    const opened = new pg.Pool({ connectionString: url, idleTimeoutMillis: 0, ...settings })
    opened.on('error', () => {})
    pools.push(opened)
    return opened
  }

  const pool = open({ max: connections })
  await pool.query(`${ARTICLE_SCHEMA}; ${CHARGES}; create table floor_charges (like charges including all)`)
  return {
    url,
    pool,
    open,
    async [Symbol.asyncDispose]() {
      for (const opened of pools) await opened.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    },
  }
}

const CHARGES = `create table charges (
  id bigint generated always as identity primary key, client_id text not null, amount int not null,
  currency text not null, created_at timestamptz not null default now())`

interface Charging {
  readonly table?: 'charges' | 'floor_charges'
  readonly client?: string
}
interface Queryable {
  query(query: {
    readonly name: string
    readonly text: string
    readonly values: unknown[]
  }): Promise<{ rows: unknown[] }>
}

/** The work: one row. Answers with its id. */
export async function charge(db: Queryable, { table = 'charges', client = 'client' }: Charging = {}): Promise<string> {
  const text = `insert into ${table} (client_id, amount, currency) values ($1, $2, $3) returning id`
  const { rows } = await db.query({ name: `charge-${table}`, text, values: [client, 2500, 'usd'] })
  return (rows[0] as { id: string }).id
}
