/** Transaction mode on PostgreSQL, held to the contract that every store is held to. */
import { describe, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { emptied, transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { fromPg } from '../database/pg.ts'

describePostgres('transaction mode on PostgreSQL', () => {
  const place = transactionPlace()
  emptied(place)
  const shown = {
    mode: 'transaction',
    clock: 'real',
    several: true,
    reopen: true,
    effects: true,
    damage: true,
    behind: true,
  } as const

  storeContract(
    place.make((pool) => fromPg(pool)),
    { ...shown, name: 'Postgres, transaction mode, by pg' },
    { runner: { describe, it } },
  )
})
