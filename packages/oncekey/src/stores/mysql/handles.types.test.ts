/** The transaction in the work's hands is mysql2's own connection, found without a cast; the type check runs these. */
import type { Pool as CallbackPool } from 'mysql2'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { describe, expectTypeOf, it } from 'vitest'
import type { InTransaction, LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { fromMysql2, mysql } from './index.ts'

// Never called: only what the compiler finds matters.
const overPromises = (pool: Pool) => fromMysql2(pool)
const overCallbacks = (pool: CallbackPool) => fromMysql2(pool)
const store = (pool: Pool) => mysql(fromMysql2(pool))
const leased = (pool: CallbackPool) =>
  mysql(fromMysql2(pool), { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })

describe('the type of the transaction', () => {
  it('is PoolConnection with promises, over either pool', () => {
    expectTypeOf<ReturnType<typeof overPromises>>().toEqualTypeOf<Database<PoolConnection>>()
    expectTypeOf<ReturnType<typeof overCallbacks>>().toEqualTypeOf<Database<PoolConnection>>()
    expectTypeOf<ReturnType<typeof store>>().toExtend<Store<InTransaction<PoolConnection>>>()
    expectTypeOf<ReturnType<typeof leased>>().toExtend<Store<LeasedInDatabase<PoolConnection>>>()
  })

  it('is not anything else', () => {
    expectTypeOf<ReturnType<typeof overPromises>>().not.toEqualTypeOf<Database<unknown>>()
  })
})
