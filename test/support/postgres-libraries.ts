// Each query library over PostgreSQL, in its own words: what the tests of all of them do with it.
import { eq } from 'drizzle-orm'
import { drizzle as drizzleOverPg } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as drizzleOverPostgresJs } from 'drizzle-orm/postgres-js'
import knexOver, { type Knex } from 'knex'
import { CamelCasePlugin, Kysely, PostgresDialect, type SelectQueryBuilder, sql } from 'kysely'
import pg from 'pg'
import postgresJs from 'postgres'
import { expect } from 'vitest'
import type { Database } from '../../packages/oncekey/src/stores/database/database.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPg } from '../../packages/oncekey/src/stores/postgres/index.ts'

export interface Tables {
  readonly account: { readonly ownerName: string }
}
const account = pgTable('account', { owner: text('owner_name').primaryKey() })

/** What a test does with each library, in that library's own words. */
export interface Library {
  readonly database: Database<unknown>
  insert(tx: unknown, owner: string): Promise<unknown>
  /** A query that is sent when somebody awaits it. */
  lazy(tx: unknown): () => PromiseLike<unknown>
  nested(tx: unknown, body: (inner: unknown) => Promise<unknown>): Promise<unknown>
  /** A transaction of the library's own. */
  transaction(body: (tx: unknown) => Promise<unknown>): Promise<unknown>
  end(): Promise<unknown>
}

export const libraries: readonly { readonly name: string; open(url: string): Library }[] = [
  { name: 'Kysely', open: kysely },
  {
    name: 'Drizzle by node-postgres',
    open(url) {
      const pool = poolAt(url)
      return drizzled(drizzleOverPg(pool, { schema: { account } }), () => pool.end())
    },
  },
  {
    name: 'Drizzle by postgres.js',
    open(url) {
      const sql = postgresJs(url, { max: 4, onnotice: () => {}, backoff: () => 0.01 })
      return drizzled(drizzleOverPostgresJs(sql, { schema: { account } }) as never, () => sql.end({ timeout: 0.5 }))
    },
  },
  { name: 'Knex', open: knex },
]

export function poolAt(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  pool.on('error', () => {})
  return pool
}

function kysely(url: string): Library {
  const pool = poolAt(url)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
  const on = (tx: unknown) => tx as typeof db
  const query = (tx: unknown): SelectQueryBuilder<Tables, 'account', { ownerName: string }> =>
    on(tx).selectFrom('account').select('ownerName')
  return {
    database: fromKysely(db, fromPg(pool)) as Database<unknown>,
    async insert(tx, ownerName) {
      const { numInsertedOrUpdatedRows } = await on(tx).insertInto('account').values({ ownerName }).executeTakeFirst()
      expect(numInsertedOrUpdatedRows).toBe(1n)
      expect(await query(tx).where('ownerName', '=', ownerName).execute()).toEqual([{ ownerName }])
    },
    lazy(tx) {
      const built = query(tx)
      return () => built.execute()
    },
    async nested(tx, body) {
      await sql`savepoint part`.execute(on(tx))
      return body(tx).catch(async (error) => {
        await sql`rollback to savepoint part`.execute(on(tx))
        throw error
      })
    },
    transaction: (body) => db.transaction().setIsolationLevel('read committed').execute(body),
    end: () => db.destroy(),
  }
}

function drizzled(
  db: ReturnType<typeof drizzleOverPg<{ account: typeof account }>>,
  end: () => Promise<void>,
): Library {
  const on = (tx: unknown) => tx as typeof db
  return {
    database: fromDrizzle(db) as unknown as Database<unknown>,
    async insert(tx, owner) {
      expect(await on(tx).insert(account).values({ owner }).returning()).toEqual([{ owner }])
      expect(await on(tx).query.account.findFirst({ where: eq(account.owner, owner) })).toEqual({ owner })
    },
    lazy(tx) {
      const built = on(tx).select().from(account)
      return () => built
    },
    nested: (tx, body) => on(tx).transaction(body),
    transaction: (body) => db.transaction(body, { isolationLevel: 'read committed' }),
    end,
  }
}

export function knexAt(url: string): Knex {
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} }
  return knexOver({ client: 'pg', connection: url, pool: { min: 0, max: 4 }, log })
}

function knex(url: string): Library {
  const db = knexAt(url)
  const on = (tx: unknown) => tx as typeof db
  return {
    database: fromKnex(db) as unknown as Database<unknown>,
    async insert(tx, owner) {
      expect(await on(tx)('account').insert({ owner_name: owner }).returning('*')).toEqual([{ owner_name: owner }])
      expect(await on(tx)('account').where({ owner_name: owner })).toHaveLength(1)
    },
    lazy(tx) {
      const built = on(tx)('account').select()
      return () => built
    },
    nested: (tx, body) => on(tx).transaction(body),
    transaction: (body) => db.transaction(body, { isolationLevel: 'read committed' }),
    end: () => db.destroy(),
  }
}
