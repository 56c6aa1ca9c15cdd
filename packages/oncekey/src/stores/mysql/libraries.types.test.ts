/** The transaction in the work's hands is the query library's own, with the user's tables in it; a library whose types drift fails here. */
import type { ExtractTablesWithRelations } from 'drizzle-orm'
import { type MySqlTransaction, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import type { MySql2Database, MySql2PreparedQueryHKT, MySql2QueryResultHKT } from 'drizzle-orm/mysql2'
import type { Knex } from 'knex'
import type { Kysely, Transaction } from 'kysely'
import type { Pool } from 'mysql2'
import { describe, expectTypeOf, it } from 'vitest'
import type { InTransaction, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { fromDrizzle, fromKnex, fromKysely, fromMysql2, mysql } from './index.ts'

interface Tables {
  readonly account: { readonly owner: string }
}
const account = mysqlTable('account', { owner: varchar({ length: 100 }) })
interface Schema extends Record<string, unknown> {
  account: typeof account
}

// Never called: only what the compiler finds matters.
const overKysely = (db: Kysely<Tables>, pool: Pool) => fromKysely(db, fromMysql2(pool))
const overDrizzle = (db: MySql2Database<Schema>) => fromDrizzle(db)
const overPlainDrizzle = (db: MySql2Database) => fromDrizzle(db)
const overKnex = (knex: Knex) => fromKnex(knex)
const store = (db: MySql2Database<Schema>) => mysql(fromDrizzle(db))

type Drizzled = MySqlTransaction<
  MySql2QueryResultHKT,
  MySql2PreparedQueryHKT,
  Schema,
  ExtractTablesWithRelations<Schema>
>

describe('the type of the transaction', () => {
  it('is Transaction over Kysely, with its tables', () => {
    expectTypeOf<ReturnType<typeof overKysely>>().toEqualTypeOf<Database<Transaction<Tables>>>()
  })

  it('is the transaction of the instance over Drizzle, with its schema', () => {
    expectTypeOf<ReturnType<typeof overDrizzle>>().toEqualTypeOf<Database<Drizzled>>()
    expectTypeOf<ReturnType<typeof store>>().toExtend<Store<InTransaction<Drizzled>>>()
    expectTypeOf<ReturnType<typeof overPlainDrizzle>>().not.toEqualTypeOf<ReturnType<typeof overDrizzle>>()
  })

  it('is Knex.Transaction over Knex', () => {
    expectTypeOf<ReturnType<typeof overKnex>>().toEqualTypeOf<Database<Knex.Transaction>>()
  })
})
