/** The store in memory as people use it: bounded, tidy without being read, audited, and not silent in production. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { once } from '../core/once.ts'
import { databaseOnly, downstreamDoesNot } from '../core/policy.ts'
import type { LeaseDriver, Owned } from '../core/store.ts'
import { memoryDriver } from './memory/driver.ts'
import { memory } from './memory.ts'

const operation = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as const })
const start = 1_700_000_000_000

function owned(n: number, retainMs = 1_000): Owned {
  const id = n.toString(16).padStart(32, '0')
  const policy = { onFailure: 'free', onAbandoned: 'takeover', retainMs, workMs: 1_000, leaseMs: 60_000 } as const
  return {
    id,
    token: `token-${n}`,
    prints: ['print'],
    policy: { ...policy, rerunnable: false, discardable: false },
    label: { scope: ['acct_1'], key: `k-${n}` },
  }
}
async function finish(driver: LeaseDriver, wanted: Owned): Promise<void> {
  const claimed = await driver.claim(wanted)
  if (claimed.kind !== 'won') return expect.fail(claimed.kind)
  await driver.complete({ ...wanted, fence: claimed.fence }, { receipt: Uint8Array.of(1) })
}

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

test('a repeat gets the first answer', async () => {
  await using store = memory(databaseOnly)
  let runs = 0
  const first = await once(store, operation('k-1'), async () => ({ id: ++runs }))
  const second = await once(store, operation('k-1'), async () => ({ id: ++runs }))
  expect(first).toMatchObject({ kind: 'ran', value: { id: 1 }, fate: 'kept' })
  expect(second).toMatchObject({ kind: 'replayed', value: { id: 1 } })
})

// productdevbook/unemail#107, paveg/hono-idempotency#5
describe('what is past its end is removed although nobody reads it', () => {
  test('by the claims of others', async () => {
    let now = start
    await using driver = memoryDriver({ clock: () => now })
    for (let n = 0; n < 1_000; n++) await finish(driver, owned(n))
    now += 1_000
    for (let n = 0; n < 600; n++) await finish(driver, owned(10_000 + n, 3_600_000))
    // Nothing is left for the sweep: the claims have done it.
    expect((await driver.admin.sweep()).removed).toBe(0)
    expect(await driver.admin.stats()).toMatchObject({ finished: 600 })
  })
  test('by a timer when there are no claims any more, which keeps no process alive', async () => {
    vi.useFakeTimers({ now: start })
    await using driver = memoryDriver()
    for (let n = 0; n < 100; n++) await finish(driver, owned(n))
    vi.advanceTimersByTime(20_000)
    expect((await driver.admin.sweep()).removed).toBe(0)
    expect(vi.getTimerCount()).toBe(1)
  })
})

// AnchorNet-Org/AnchorNet-Backend#221
describe('a full store', () => {
  test('refuses new claims, and drops nothing that is owed to somebody', async () => {
    await using store = memory(downstreamDoesNot, { maxRecords: 3 })
    await once(store, operation('finished'), async () => 1)
    await once(store, operation('unknown'), async () => 1, { policy: { judge: () => 'hold' } })
    await once(store, operation('open'), async () => 1, { policy: { judge: () => 'retry' } })
    await expect(once(store, operation('new'), () => expect.fail('it ran'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    expect(await once(store, operation('finished'), async () => 2)).toMatchObject({ kind: 'replayed', value: 1 })
    expect(await once(store, operation('unknown'), async () => 2)).toMatchObject({ kind: 'unknown' })
    expect(await once(store, operation('open'), async () => 2)).toMatchObject({ kind: 'ran' })
  })
  test('makes room of what is past its end', async () => {
    let now = start
    await using store = memory(databaseOnly, { maxRecords: 2, retain: '1s', clock: () => now })
    await once(store, operation('k-1'), async () => 1)
    await once(store, operation('k-2'), async () => 1)
    now += 1_000
    expect(await once(store, operation('k-3'), async () => 1)).toMatchObject({ kind: 'ran' })
  })
})

test('every change by hand is audited', async () => {
  await using store = memory(downstreamDoesNot)
  await once(store, operation('k-1'), async () => 1, { policy: { judge: () => 'hold' } })
  const seen = await store.admin.find(operation('k-1'))
  if (!seen) return expect.fail('there is no record')
  await store.admin.settle(seen, { kind: 'retry' }, { who: 'ada', why: 'the provider says it never arrived' })
  const open = await store.admin.find(operation('k-1'))
  if (!open) return expect.fail('there is no record')
  await store.admin.forget(open, { who: 'bob', why: 'a test record' })
  expect(store.audit).toMatchObject([
    { id: seen.id, what: 'retry', was: 'unknown', who: 'ada', why: 'the provider says it never arrived' },
    { id: seen.id, what: 'forget', was: 'open', who: 'bob', why: 'a test record' },
  ])
  await store.admin.settle(seen, { kind: 'free' }, { who: 'eve', why: 'too late' })
  expect(store.audit).toHaveLength(2)
})

test('two mounts of one store share its records', async () => {
  await using store = memory(databaseOnly)
  const [first, second] = [store, store].map((mounted) => once(mounted, operation('k-1'), async () => 1))
  expect(await first).toMatchObject({ kind: 'ran' })
  expect(await second).toMatchObject({ kind: 'busy' })
})

test('production is warned, once', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  memory(databaseOnly)
  expect(warn).not.toHaveBeenCalled()
  vi.stubEnv('NODE_ENV', 'production')
  memory(databaseOnly)
  memory(databaseOnly)
  expect(warn).toHaveBeenCalledTimes(1)
  warn.mockRestore()
})
