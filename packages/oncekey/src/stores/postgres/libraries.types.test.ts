/** The transaction in the work's hands is the query library's own, with the user's tables in it; a library whose types drift fails here. */

import type { ExtractTablesWithRelations } from 'drizzle-orm'
import type { NodePgDatabase, NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import { type PgTransaction, pgTable, text } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase, PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import type { Knex } from 'knex'
import type { Kysely, Transaction } from 'kysely'
import type pg from 'pg'
import { describe, expectTypeOf, it } from 'vitest'
import type { InTransaction, LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPg, postgres as postgresStore } from './index.ts'

interface Tables {
  readonly account: { readonly owner: string }
}
const account = pgTable('account', { owner: text() })
interface Schema extends Record<string, unknown> {
  account: typeof account
}

// Never called: only what the compiler finds matters.
const overKysely = (db: Kysely<Tables>, pool: pg.Pool) => fromKysely(db, fromPg(pool))
const overDrizzle = (db: NodePgDatabase<Schema>) => fromDrizzle(db)
const overPlainDrizzle = (db: NodePgDatabase) => fromDrizzle(db)
const overDrizzlePostgresJs = (db: PostgresJsDatabase<Schema>) => fromDrizzle(db)
const overKnex = (knex: Knex) => fromKnex(knex)
const store = (db: NodePgDatabase<Schema>) => postgresStore(fromDrizzle(db))
const leased = (db: Kysely<Tables>, pool: pg.Pool) =>
  postgresStore(fromKysely(db, fromPg(pool)), { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })

type Drizzled<Hkt extends NodePgQueryResultHKT | PostgresJsQueryResultHKT> = PgTransaction<
  Hkt,
  Schema,
  ExtractTablesWithRelations<Schema>
>

describe('the type of the transaction', () => {
  it('is Transaction over Kysely, with its tables', () => {
    expectTypeOf<ReturnType<typeof overKysely>>().toEqualTypeOf<Database<Transaction<Tables>>>()
    expectTypeOf<ReturnType<typeof leased>>().toExtend<Store<LeasedInDatabase<Transaction<Tables>>>>()
  })

  it('is the transaction of the instance over Drizzle, with its schema', () => {
    expectTypeOf<ReturnType<typeof overDrizzle>>().toEqualTypeOf<Database<Drizzled<NodePgQueryResultHKT>>>()
    expectTypeOf<ReturnType<typeof overDrizzlePostgresJs>>().toEqualTypeOf<
      Database<Drizzled<PostgresJsQueryResultHKT>>
    >()
    expectTypeOf<ReturnType<typeof store>>().toExtend<Store<InTransaction<Drizzled<NodePgQueryResultHKT>>>>()
    expectTypeOf<ReturnType<typeof overPlainDrizzle>>().not.toEqualTypeOf<ReturnType<typeof overDrizzle>>()
  })

  it('is Knex.Transaction over Knex', () => {
    expectTypeOf<ReturnType<typeof overKnex>>().toEqualTypeOf<Database<Knex.Transaction>>()
  })
})
