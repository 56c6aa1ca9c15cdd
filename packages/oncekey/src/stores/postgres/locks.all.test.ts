/** T4 under stress: the numbers that the protocol was chosen by, shown on the protocol as built. */
import { expect, it } from 'vitest'
import { contend } from '../../../../../test/support/contention.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { countOf } from '../../../../../test/support/whole.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

const KEYS = countOf({ whole: 3_000, usual: 1_000 })

describePostgres(`T4: ${KEYS} contended keys`, () => {
  const place = transactionPlace()

  it.each(['locked', 'first'] as const)(
    'start once each, and no caller gets a wrong answer (read %s)',
    { timeout: 900_000 },
    async (read) => {
      const stores = [1, 2].map(() =>
        postgres(fromPg(place.open(undefined, { max: 20 })), { schema: place.schema, read, claimMs: '20s' }),
      )
      const { starts, same, other } = await contend({ stores, keys: KEYS, callers: 6, changed: 2 })
      console.log({ starts, same, other })
      expect(starts).toBe(KEYS)
      expect(same.ran).toBe(KEYS)
      expect(same.mismatch).toBeUndefined()
      expect(Object.keys(other)).toEqual(['mismatch'])
    },
  )
})
