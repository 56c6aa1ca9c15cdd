// Our stores on the benchmark's ground, in every way a PostgreSQL can be reached.

import type { InTransaction, LeasedInDatabase, Store } from 'oncekey'
import { databaseOnly } from 'oncekey'
import { fromPg, postgres } from 'oncekey/postgres'
import type { PoolClient } from 'pg'
import type { Ground } from './ground.ts'

export type InPg = Store<InTransaction<PoolClient>>
export type InPgLease = Store<LeasedInDatabase<PoolClient>>
export interface Stores extends AsyncDisposable {
  /** A stock pool: each flight is one query of several statements. */
  readonly stock: InPg
  readonly stockFirst: InPg
  /** A pipelined pool and named statements: each flight is several messages, sent together. */
  readonly pipelined: InPg
  readonly lease: InPgLease
  readonly leasePipelined: InPgLease
}

export async function storesOn({ open, pool }: Ground, connections: number): Promise<Stores> {
  const stock = fromPg(pool)
  const pipelined = fromPg(open({ max: connections, pipeline: true }), { preparedStatements: true })
  // All callers may win, and wait, as in the article's protocol: protocols are compared, not limits.
  const limits = { maxWinners: connections, work: '60s', claimMs: '30s' } as const
  const stores = {
    stock: postgres(stock, { ...limits, read: 'locked' }),
    stockFirst: postgres(stock, { ...limits, read: 'first' }),
    pipelined: postgres(pipelined, { ...limits, read: 'locked' }),
    lease: postgres(stock, { mode: 'lease', ...databaseOnly, ...limits }),
    leasePipelined: postgres(pipelined, { mode: 'lease', ...databaseOnly, ...limits }),
  }
  await stores.stock.admin.migrate()
  return {
    ...stores,
    async [Symbol.asyncDispose]() {
      for (const store of Object.values(stores)) await store[Symbol.asyncDispose]()
    },
  }
}
