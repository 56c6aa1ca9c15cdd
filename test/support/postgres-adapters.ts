// Every way to reach a PostgreSQL transaction, for tests that hold each to the same rules.
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleOverPg, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOverPostgresJs } from 'drizzle-orm/postgres-js'
import knexOver, { type Knex } from 'knex'
import { Kysely, sql as kyselySql, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import type { Database } from '../../packages/oncekey/src/stores/database/database.ts'
import { fromDrizzle } from '../../packages/oncekey/src/stores/database/drizzle/postgres.ts'
import { fromKnex } from '../../packages/oncekey/src/stores/database/knex/postgres.ts'
import { fromKysely } from '../../packages/oncekey/src/stores/database/kysely/postgres.ts'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { fromPostgresJs } from '../../packages/oncekey/src/stores/database/postgres-js.ts'

export interface Opened {
  readonly database: Database<unknown>
  /** One statement of the user's through the handle. */
  run(tx: unknown, sql: string): Promise<unknown>
  end(): Promise<void>
}
export interface Adapter {
  /** One of each library is held to the rules on every run, the others with `test:all`. */
  readonly usual?: true
  readonly name: string
  open(url: string, connections?: number): Opened
}

const everyAdapter: readonly Adapter[] = [
  {
    name: 'pg',
    usual: true,
    open: (url, max) => overPg(new pg.Pool({ connectionString: url, max: max ?? 4 })),
  },
  {
    name: 'pg, pipelined pool',
    open: (url, max) => overPg(new pg.Pool({ connectionString: url, max: max ?? 4, pipeline: true })),
  },
  {
    name: 'pg, flights of separate messages',
    open: (url, max) =>
      overPg(new pg.Pool({ connectionString: url, max: max ?? 4, pipeline: true }), { pipeline: true }),
  },
  {
    name: 'pg, prepared statements',
    open: (url, max) =>
      overPg(new pg.Pool({ connectionString: url, max: max ?? 4, pipeline: true }), { preparedStatements: true }),
  },
  { name: 'postgres.js', usual: true, open: (url, max) => overPostgresJs(url, { max: max ?? 4 }) },
  {
    name: 'postgres.js, prepared statements',
    open: (url, max) => overPostgresJs(url, { max: max ?? 4 }, { preparedStatements: true }),
  },
  {
    name: 'postgres.js, no types fetched',
    open: (url, max) => overPostgresJs(url, { max: max ?? 4, fetch_types: false }),
  },
  {
    name: 'postgres.js, names in camel case',
    open: (url, max) =>
      overPostgresJs(url, { max: max ?? 4, transform: postgres.camel, types: { bigint: postgres.BigInt } }),
  },
  { name: 'Kysely', open: overKysely },
  { name: 'Drizzle by node-postgres', open: overDrizzleAndPg },
  { name: 'Drizzle by postgres.js', open: overDrizzleAndPostgresJs },
  { name: 'Knex', open: overKnex },
]

export const adapters = everyAdapter.filter(({ usual }) => usual || process.env.ONCEKEY_TEST_ALL === '1')

function overPg(pool: pg.Pool, options: Parameters<typeof fromPg>[1] = {}): Opened {
  pool.on('error', () => {})
  return {
    database: fromPg(pool, { commitMs: 1_000, ...options }) as Database<unknown>,
    run: async (tx, sql) => (await (tx as pg.PoolClient).query(sql)).rows,
    end: () => pool.end(),
  }
}

function overPostgresJs(
  url: string,
  settings: postgres.Options<Record<string, postgres.PostgresType>>,
  options: Parameters<typeof fromPostgresJs>[1] = {},
): Opened {
  // Its errors on stopped servers are what is tested; its notices are noise.
  const sql = postgres(url, { ...settings, onnotice: () => {}, backoff: () => 0.01 })
  return {
    database: fromPostgresJs(sql, { commitMs: 1_000, ...options }) as unknown as Database<unknown>,
    run: async (tx, text) => (tx as postgres.TransactionSql).unsafe(text),
    end: () => sql.end({ timeout: 0.5 }),
  }
}

function poolAt(url: string, max = 4): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return pool
}

function overKysely(url: string, max?: number): Opened {
  const pool = poolAt(url, max)
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
  return {
    database: fromKysely(db, fromPg(pool, { commitMs: 1_000 })) as Database<unknown>,
    run: async (tx, text) => (await kyselySql.raw(text).execute(tx as Transaction<unknown>)).rows,
    end: () => db.destroy(),
  }
}

function overDrizzleAndPg(url: string, max?: number): Opened {
  const pool = poolAt(url, max)
  return {
    database: fromDrizzle(drizzleOverPg(pool), { commitMs: 1_000 }) as unknown as Database<unknown>,
    run: runOnDrizzle,
    end: () => pool.end(),
  }
}

function overDrizzleAndPostgresJs(url: string, max = 4): Opened {
  const sql = postgres(url, { max, onnotice: () => {}, backoff: () => 0.01 })
  return {
    database: fromDrizzle(drizzleOverPostgresJs(sql), { commitMs: 1_000 }) as unknown as Database<unknown>,
    run: runOnDrizzle,
    end: () => sql.end({ timeout: 0.5 }),
  }
}

/** Drizzle gives what its driver gives, postgres.js rows and pg a result that has them, and wraps what its driver throws. */
async function runOnDrizzle(tx: unknown, text: string): Promise<unknown> {
  try {
    const result: { readonly rows?: unknown } = await (tx as NodePgDatabase).execute(drizzleSql.raw(text))
    return result.rows ?? result
  } catch (error) {
    throw (error as Error).cause ?? error
  }
}

function overKnex(url: string, max = 4): Opened {
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} }
  const knex = knexOver({ client: 'pg', connection: url, pool: { min: 0, max }, log })
  return {
    database: fromKnex(knex, { commitMs: 1_000 }) as unknown as Database<unknown>,
    run: async (tx, text) => (await (tx as Knex.Transaction).raw(text)).rows,
    end: () => knex.destroy(),
  }
}
