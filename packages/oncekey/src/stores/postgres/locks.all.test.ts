/** T4 under stress: the numbers that the protocol was chosen by, shown on the protocol as built. */
import { expect, it } from 'vitest'
import { contend } from '../../../../../test/support/contention.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

describePostgres('T4: 3,000 contended keys', () => {
  const place = transactionPlace()

  it.each(['locked', 'first'] as const)(
    'start 3,000 times, and no caller gets a wrong answer (read %s)',
    { timeout: 300_000 },
    async (read) => {
      const stores = [1, 2].map(() =>
        postgres(fromPg(place.open(undefined, { max: 20 })), { schema: place.schema, read, claimMs: '20s' }),
      )
      const { starts, same, other } = await contend({ stores, keys: 3_000, callers: 6, changed: 2 })
      console.log({ starts, same, other })
      expect(starts).toBe(3_000)
      expect(same.ran).toBe(3_000)
      expect(same.mismatch).toBeUndefined()
      expect(Object.keys(other)).toEqual(['mismatch'])
    },
  )
})
