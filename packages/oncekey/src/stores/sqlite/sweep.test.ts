/** What a sweep leaves of a file's records, how far one call of it goes, and what becomes of one that was overtaken. */
import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../../test/sqlite/scratch.ts'
import { identify } from '../../core/operation.ts'
import { databaseOnly, fillPolicy, type Policy } from '../../core/policy.ts'
import type { Store, Swept, Verdict } from '../../core/store.ts'
import { writeKept } from '../kept.ts'
import { STATE } from '../row.ts'
import { sqlite } from './index.ts'

const file = scratch()
const HEAD = Uint8Array.of(2, 0, 1)
const HOUR = 3_600_000
const charge = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as [string] })
const swept = (counts: Partial<Swept> = {}): Swept => ({
  ...{ removed: 0, expired: 0, abandoned: 0, complete: true },
  ...counts,
})

function open(mode: 'transaction' | 'lease' = 'transaction') {
  const path = file()
  const fast = { driver: Database, durability: 'normal' } as const
  const store = (mode === 'lease'
    ? sqlite(path, { ...fast, mode, ...databaseOnly })
    : sqlite(path, fast)) as unknown as Store
  const outside = new Database(path)
  return {
    store,
    outside,
    keep(key: string, receipt: Uint8Array, policy: Policy<unknown> = {}) {
      const verdict: Verdict = { kind: 'keep', receipt, writes: 'commit', head: HEAD }
      const how = { policy: fillPolicy(policy, store.defaults), repeatable: true }
      return store.attempt(charge(key), how, async () => verdict)
    },
    row(key: string) {
      const found = outside.prepare('select * from oncekey_record where k = ?')
      return found.get([Buffer.from(identify(charge(key)).id, 'hex')]) as
        | { state: number; body: Buffer; expires_at: number; lease_end: number | null }
        | undefined
    },
    fill(rows: number, expires = '1') {
      outside.exec(`with recursive n (n) as (select 1 union all select n + 1 from n where n < ${rows})
        insert into oncekey_record (k, fingerprint, expires_at, state, body)
        select randomblob(16), randomblob(16), ${expires}, 4, x'01' from n`)
    },
    meta: () => outside.prepare('select sweeper, sweep_place from oncekey_meta').get() as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      outside.close()
    },
  }
}

describe.each(['transaction', 'lease'] as const)('%s mode: a tombstone', (mode) => {
  test.each([
    ['short', Uint8Array.of(7)],
    ['empty', new Uint8Array()],
    ['like a tombstone itself', writeKept({ receipt: Uint8Array.of(7) }, true)],
    ['of 1 MiB', new Uint8Array(1_048_576)],
  ])('of a receipt that was %s is the label that stood in front of it, and nothing else', async (_, receipt) => {
    await using at = open(mode)
    await at.keep('k', receipt, { retain: '1h', tombstone: '30d' })
    expect(await at.store.admin.sweep()).toEqual(swept())
    at.outside.exec('update oncekey_record set expires_at = 1')
    expect(await at.store.admin.sweep()).toEqual(swept({ expired: 1 }))
    const row = at.row('k')
    expect(row).toMatchObject({ state: STATE.spent, lease_end: null })
    expect(JSON.parse(row?.body.toString() ?? '')).toEqual({ why: 'expired', head: 'AgAB' })
    expect(((row?.expires_at ?? 0) - Date.now()) / HOUR).toBeCloseTo(30 * 24 + 1, 1)
    expect(await at.store.admin.find(charge('k'))).toMatchObject({ state: 'finished', why: 'expired', head: HEAD })
    expect(await at.store.admin.sweep()).toEqual(swept())
    at.outside.exec('update oncekey_record set expires_at = 1')
    expect(await at.store.admin.sweep()).toEqual(swept({ removed: 1 }))
  })

  test('is none where none is wanted: the body is the receipt alone', async () => {
    await using at = open(mode)
    await at.keep('k', Uint8Array.of(7))
    expect(at.row('k')).toMatchObject({ body: Buffer.of(7), lease_end: null })
  })
})

test('a body that no build of ours wrote leaves a tombstone all the same', async () => {
  await using at = open()
  await at.store.admin.migrate()
  for (const body of [`x'78'`, `x''`, `x'00'`, `x'0000'`, `x'00aa'`, 'null'])
    at.outside.exec(`insert into oncekey_record (k, fingerprint, expires_at, lease_end, state, body)
      values (randomblob(16), randomblob(16), 1, 9000000000000, 4, ${body})`)
  expect(await at.store.admin.sweep()).toEqual(swept({ expired: 6 }))
  const bodies = at.outside.prepare('select distinct cast(body as text) as body from oncekey_record').all()
  expect(bodies).toMatchObject([{ body: '{"why":"expired"}' }])
})

test('a limit is kept to the record, and the next call goes on from there', async () => {
  await using at = open()
  await at.store.admin.migrate()
  at.fill(95)
  const calls: Swept[] = []
  while (!calls.at(-1)?.complete) calls.push(await at.store.admin.sweep({ batch: 10, pauseMs: 0, limit: 25 }))
  expect(calls.map(({ removed }) => removed)).toEqual([25, 25, 25, 20])
  expect(at.meta()).toMatchObject({ sweeper: null, sweep_place: null })
})

test('what nothing is to be done with counts too, and is looked at without the write lock', async () => {
  await using at = open()
  await at.store.admin.migrate()
  at.fill(50, '9000000000000')
  expect(await at.store.admin.sweep({ limit: 20 })).toEqual(swept({ complete: false }))
  expect(at.meta().sweep_place).toHaveLength(16)
  expect(await at.store.admin.sweep({ limit: 40 })).toEqual(swept())
})

test('told to stop, it gives its claim back with its place', async () => {
  await using at = open()
  await at.store.admin.migrate()
  at.fill(30)
  const stop = new AbortController()
  const sweeping = at.store.admin.sweep({ batch: 10, pauseMs: 600_000, signal: stop.signal })
  await expect.poll(() => at.meta().sweep_place).not.toBeNull()
  stop.abort()
  expect(await sweeping).toEqual(swept({ removed: 10, complete: false }))
  expect(at.meta()).toMatchObject({ sweeper: null })
  expect(await at.store.admin.sweep()).toEqual(swept({ removed: 20 }))
})

test('one whose claim was taken over meanwhile removes nothing more', async () => {
  await using at = open()
  await at.store.admin.migrate()
  at.fill(30)
  const sweeping = at.store.admin.sweep({ batch: 10, pauseMs: 300 })
  await expect.poll(() => at.meta().sweep_place, { interval: 5 }).not.toBeNull()
  at.outside.exec(`update oncekey_meta set sweeper = x'01', sweep_place = x'02'`)
  expect(await sweeping).toEqual(swept({ removed: 10, complete: false }))
  expect(at.meta()).toMatchObject({ sweeper: Buffer.of(1), sweep_place: Buffer.of(2) })
})

test.each([{ batch: 0 }, { batch: 1.5 }, { limit: 0 }, { limit: Number.NaN }])(
  '%j is INVALID_OPTION',
  async (options) => {
    await using at = open()
    await expect(at.store.admin.sweep(options)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  },
)
