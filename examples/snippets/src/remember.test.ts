// Runs the snippets about what is remembered, on the store that needs no server.
import { randomBytes } from 'node:crypto'
import { databaseOnly, once } from 'oncekey'
import { memory } from 'oncekey/memory'
import { expect, it, vi } from 'vitest'
import { afterReconciling, afterRestore, eraseOf, keyringOf, policy, sealedCharge, sweepOnTimer } from './remember.ts'

const named = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as const })
const key = () => new Uint8Array(randomBytes(32))

it('an answer lasts a day, its tombstone a month, and a key older than both is refused', async () => {
  let now = Date.now()
  const store = memory(databaseOnly, { clock: () => now })
  const charge = vi.fn(async () => ({ id: 'ch_1' }))
  const run = (name: string) => once(store, named(name), charge, { policy })
  expect(await run('order-1')).toMatchObject({ kind: 'ran' })
  now += 86_400_000
  expect(await run('order-1')).toMatchObject({ kind: 'not-kept', record: { why: 'expired' } })
  expect(await sweepOnTimer(store)).toMatchObject({ removed: 0, expired: 1, complete: true })
  await expect(run('01890a5d-ac96-774b-bcce-b302099a8057')).rejects.toMatchObject({ code: 'KEY_TOO_OLD' })
  expect(charge).toHaveBeenCalledTimes(1)
  await store[Symbol.asyncDispose]()
})

it('an erased answer is gone, and its operation does not run again', async () => {
  const store = memory(databaseOnly)
  const charge = vi.fn(async () => ({ id: 'ch_1' }))
  await once(store, named('order-1'), charge)
  expect(await eraseOf(store, 'acct_1', 'order-1')).toBe('done')
  expect(await once(store, named('order-1'), charge)).toMatchObject({ kind: 'not-kept', record: { why: 'erased' } })
  expect(charge).toHaveBeenCalledTimes(1)
  await store[Symbol.asyncDispose]()
})

it('after a restore nothing is guessed until it is reconciled', async () => {
  const store = memory(databaseOnly)
  const said = vi.spyOn(console, 'log').mockImplementation(() => {})
  expect(await afterRestore(store, 'ada')).toBe(0)
  said.mockRestore()
  expect(await once(store, named('order-2'), async () => 1)).toMatchObject({ kind: 'unknown' })
  await afterReconciling(store, 'ada')
  expect(await once(store, named('order-2'), async () => 1)).toMatchObject({ kind: 'ran' })
  await store[Symbol.asyncDispose]()
})

it('a sealed answer is kept redacted, and read by who has its key', async () => {
  const store = memory(databaseOnly)
  const [old, fresh] = [key(), key()]
  const charge = async () => ({ id: 'ch_1', card: '4242' })
  const ring = keyringOf(old, fresh)
  expect(await sealedCharge(store, named('order-3'), ring, charge)).toMatchObject({
    kind: 'ran',
    value: { card: '4242' },
  })
  expect(await sealedCharge(store, named('order-3'), ring, charge)).toMatchObject({ value: { id: 'ch_1' } })
  const other = { current: '2026-11', keys: { '2026-11': key() } }
  expect(await sealedCharge(store, named('order-3'), other, charge)).toMatchObject({ kind: 'not-kept' })
  await store[Symbol.asyncDispose]()
})
