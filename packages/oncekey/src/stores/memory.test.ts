/** The store in memory as people use it: bounded, tidy, and silent about nothing. */
import { expect, test } from 'vitest'
import { once } from '../core/once.ts'
import { databaseOnly } from '../core/policy.ts'
import { memory } from './memory.ts'

const operation = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as [string] })

test('a repeat gets the first answer', async () => {
  await using store = memory(databaseOnly)
  let runs = 0
  const first = await once(store, operation('k-1'), async () => ({ id: ++runs }))
  const second = await once(store, operation('k-1'), async () => ({ id: ++runs }))
  expect(first).toMatchObject({ kind: 'ran', value: { id: 1 }, fate: 'kept' })
  expect(second).toMatchObject({ kind: 'replayed', value: { id: 1 } })
})
