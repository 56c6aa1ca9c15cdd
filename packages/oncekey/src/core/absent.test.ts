/** Keys that the store does not know: when they run, and when nobody may know whether they did before. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { memory } from '../stores/memory.ts'
import { milliseconds } from './clock.ts'
import { once } from './once.ts'
import { databaseOnly, type Policy } from './policy.ts'
import type { Store } from './store.ts'

const opened: Store[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store[Symbol.asyncDispose]()
})

function store(retain: '1h' | '24h' = '1h') {
  const made = memory(databaseOnly, { retain })
  opened.push(made)
  return made
}
let tails = 0
/** A UUIDv7 that says it was made so long ago. */
function keyFrom(ago: `${number}${'ms' | 's' | 'm' | 'h'}`): string {
  const time = (Date.now() - milliseconds(ago, 'ago')).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${(++tails).toString(16).padStart(12, '0')}`
}
const named = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as const })
const audit = { who: 'operator', why: 'restored from the backup of 03:00' }

describe('a key that is older than the store remembers', () => {
  const policy: Policy<string> = { oldKeys: 'refuse', clockSkew: '5m' }
  const run = (on: Store, key: string, more: Policy<string> = policy) =>
    once(on, named(key), async () => 'ran', { policy: more })

  it('runs where nothing else was asked for', async () => {
    expect(await run(store(), keyFrom('90h'), {})).toMatchObject({ kind: 'ran' })
  })
  it('is refused, and the work does not run', async () => {
    const work = vi.fn(async () => 'ran')
    const attempt = once(store(), named(keyFrom('90h')), work, { policy })
    await expect(attempt).rejects.toMatchObject({ code: 'KEY_TOO_OLD' })
    expect(work).not.toHaveBeenCalled()
  })
  it('still gets its answer where the record is there: the look-up comes first', async () => {
    const on = store()
    const key = keyFrom('90h')
    await run(on, key, {})
    expect(await run(on, key)).toMatchObject({ kind: 'replayed', value: 'ran' })
  })
  it('has room for a clock that is behind', async () => {
    expect(await run(store(), keyFrom('64m'))).toMatchObject({ kind: 'ran' })
    await expect(run(store(), keyFrom('66m'))).rejects.toMatchObject({ code: 'KEY_TOO_OLD' })
  })
  it('is one older than retention and tombstone together', async () => {
    expect(await run(store(), keyFrom('70m'), { ...policy, tombstone: '1h' })).toMatchObject({ kind: 'ran' })
    await expect(run(store(), keyFrom('126m'), { ...policy, tombstone: '1h' })).rejects.toMatchObject({
      code: 'KEY_TOO_OLD',
    })
  })
  it('can only be one that says its time', async () => {
    expect(await run(store(), 'order-17')).toMatchObject({ kind: 'ran' })
    expect(await run(store(), '4a1d1c1e-0000-4000-8000-000000000000')).toMatchObject({ kind: 'ran' })
  })
  it('is told unavailable, and does not run, where the store does not answer the look-up', async () => {
    const on = store()
    const silent = { ...on, admin: { ...on.admin, find: () => new Promise<never>(() => {}) } }
    const work = vi.fn(async () => 'ran')
    const attempt = once(silent, named(keyFrom('90h')), work, { policy })
    await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(work).not.toHaveBeenCalled()
  })
})

describe('after a restore', () => {
  const run = (on: Store, key: string) => once(on, named(key), async () => 'ran')

  it('an absent key that is older than the restore has an unknown outcome', async () => {
    const on = store()
    await on.admin.restored({ ...audit, onEpochChange: 'run' })
    expect(await run(on, keyFrom('2m'))).toMatchObject({
      kind: 'unknown',
      record: { state: 'unknown', why: 'the store was restored' },
    })
  })
  it('a record that came back answers for itself', async () => {
    const on = store()
    const key = keyFrom('2m')
    await run(on, key)
    await on.admin.restored({ ...audit, onEpochChange: 'refuse' })
    expect(await run(on, key)).toMatchObject({ kind: 'replayed', value: 'ran' })
  })
  it('other absent keys run, or do not, as the operator said', async () => {
    const on = store()
    await on.admin.restored({ ...audit, onEpochChange: 'run' })
    expect(await run(on, 'order-1')).toMatchObject({ kind: 'ran' })
    await on.admin.restored({ ...audit, onEpochChange: 'refuse' })
    expect(await run(on, 'order-2')).toMatchObject({ kind: 'unknown' })
    expect(await run(on, keyFrom('0ms'))).toMatchObject({ kind: 'unknown' })
  })
  it('everything is as before once one retention has passed, or the operator has reconciled', async () => {
    const on = store()
    await on.admin.restored({ ...audit, onEpochChange: 'refuse' })
    await on.admin.reconciled(audit)
    expect(await run(on, keyFrom('2m'))).toMatchObject({ kind: 'ran' })

    const restored = { at: new Date(Date.now() - 3_600_001), onEpochChange: 'refuse' } as const
    expect(await run({ ...store(), restored: async () => restored }, 'order-3')).toMatchObject({ kind: 'ran' })
    const lately = { at: new Date(Date.now() - 3_590_000), onEpochChange: 'refuse' } as const
    expect(await run({ ...store(), restored: async () => lately }, 'order-4')).toMatchObject({ kind: 'unknown' })
  })
})
