/** The transaction in the work's hands has the user's own type, found without a cast; the type check runs these. */
import type pg from 'pg'
import type postgres from 'postgres'
import { describe, expectTypeOf, it } from 'vitest'
import type { InTransaction, LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { fromPg, fromPostgresJs, postgres as postgresStore } from './index.ts'

// Never called: only what the compiler finds matters.
const overPg = (pool: pg.Pool) => fromPg(pool)
const overPgClient = (pool: pg.Pool) => postgresStore(fromPg(pool))
const overPostgresJs = (sql: postgres.Sql) => fromPostgresJs(sql)
const overTyped = (sql: postgres.Sql<{ bigint: bigint }>) => fromPostgresJs(sql)
const store = (sql: postgres.Sql) => postgresStore(fromPostgresJs(sql))
const leased = (sql: postgres.Sql) =>
  postgresStore(fromPostgresJs(sql), { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })

describe('the type of the transaction', () => {
  it('is PoolClient over pg', () => {
    expectTypeOf<ReturnType<typeof overPg>>().toEqualTypeOf<Database<pg.PoolClient>>()
    expectTypeOf<ReturnType<typeof overPgClient>>().toExtend<Store<InTransaction<pg.PoolClient>>>()
  })

  it('is TransactionSql over postgres.js, with its own types in it', () => {
    expectTypeOf<ReturnType<typeof overPostgresJs>>().toEqualTypeOf<Database<postgres.TransactionSql>>()
    expectTypeOf<ReturnType<typeof overTyped>>().toEqualTypeOf<Database<postgres.TransactionSql<{ bigint: bigint }>>>()
    expectTypeOf<ReturnType<typeof store>>().toExtend<Store<InTransaction<postgres.TransactionSql>>>()
    expectTypeOf<ReturnType<typeof leased>>().toExtend<Store<LeasedInDatabase<postgres.TransactionSql>>>()
  })

  it('is not anything else', () => {
    expectTypeOf<ReturnType<typeof overPg>>().not.toEqualTypeOf<Database<unknown>>()
    expectTypeOf<ReturnType<typeof store>>().not.toExtend<Store<InTransaction<pg.PoolClient>>>()
  })
})
