/** What operators do to the records of a file: answers that are erased, and a file that came back from a backup. */
import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../../test/sqlite/scratch.ts'
import { once } from '../../core/once.ts'
import { identify } from '../../core/operation.ts'
import { downstreamDedupes, fillPolicy, type Policy } from '../../core/policy.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Store, Verdict } from '../../core/store.ts'
import { STATE } from '../row.ts'
import { sqlite } from './index.ts'

const file = scratch()
const by = { who: 'an operator', why: 'she asked for it' }
const secret = new TextEncoder().encode('her name')
const charge = (key: string, body = 'body') => ({ scope: 'acct_1', key, fingerprints: [body] as [string] })
const never = () => Promise.reject(new Error('the work ran, and must not have'))

function open(mode: 'transaction' | 'lease', path = file()) {
  const fast = { driver: Database, durability: 'normal' } as const
  return (mode === 'lease'
    ? sqlite(path, { ...fast, mode, ...downstreamDedupes({ for: '24h' }) })
    : sqlite(path, fast)) as unknown as Store
}
function end(store: Store, key: string, verdict: Verdict, policy: Policy<unknown> = {}) {
  const how = { policy: fillPolicy(policy, store.defaults), repeatable: true }
  return store.attempt(charge(key), how, async () => verdict)
}
async function seen({ admin }: Store, key: string): Promise<KeyRecord> {
  const record = await admin.find(charge(key))
  if (!record) throw new Error('not found')
  return record
}
function rows(path: string, sql: string): Record<string, unknown>[] {
  const database = new Database(path)
  try {
    const found = database.prepare(sql).all() as Record<string, unknown>[]
    // libsql gives what it lists as another kind of bytes than what it gets.
    const bytes = (value: unknown) => (value instanceof ArrayBuffer ? Buffer.from(value) : value)
    return found.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, bytes(value)])))
  } finally {
    database.close()
  }
}

describe.each(['transaction', 'lease'] as const)('%s mode: an erased answer', (mode) => {
  const kept: Verdict = { kind: 'keep', receipt: secret, writes: 'commit', head: secret }

  test('leaves nothing of itself, and its key bound until its last end', async () => {
    const path = file()
    await using store = open(mode, path)
    await end(store, 'k', kept, { retain: '1h', tombstone: '30d' })
    expect(await store.admin.erase(await seen(store, 'k'), by)).toBe('done')
    const [row] = rows(path, 'select state, body, lease_end, expires_at from oncekey_record')
    expect(row).toMatchObject({ state: STATE.spent, body: Buffer.from('{"why":"erased"}'), lease_end: null })
    expect((Number(row?.expires_at) - Date.now()) / 3_600_000).toBeCloseTo(30 * 24 + 1, 1)
    expect(rows(path, 'select action, state, label from oncekey_audit')).toMatchObject([
      { action: 'erase', state: STATE.finished, label: null },
    ])
    expect(await once(store, charge('k'), never)).toMatchObject({ kind: 'not-kept', record: { why: 'erased' } })
    expect(await once(store, charge('k', 'another'), never)).toMatchObject({ kind: 'mismatch' })
  })

  test('is erased once, as it was seen; what is another one now is told', async () => {
    const path = file()
    await using store = open(mode, path)
    await end(store, 'k', kept)
    const before = await seen(store, 'k')
    expect(await store.admin.erase({ ...before, expiresAt: new Date(1) }, by)).toMatchObject({ state: 'finished' })
    expect(await store.admin.erase(before, by)).toBe('done')
    expect(await store.admin.erase(before, by)).toMatchObject({ why: 'erased' })
    await end(store, 'unknown', { kind: 'hold', why: 'a timeout' })
    expect(await store.admin.erase(await seen(store, 'unknown'), by)).toMatchObject({ state: 'unknown' })
    expect(rows(path, 'select action from oncekey_audit')).toHaveLength(1)
  })

  test('goes with what a spent one remembers of it', async () => {
    const path = file()
    await using store = open(mode, path)
    await end(store, 'k', { kind: 'spend', why: 'too-large', head: secret })
    expect(await store.admin.erase(await seen(store, 'k'), by)).toBe('done')
    expect(await store.admin.find(charge('k'))).not.toHaveProperty('head')
    expect(rows(path, 'select label from oncekey_audit')).toMatchObject([{ label: null }])
  })
})

test('a finished record is forgotten as it was seen; its end tells one from the next', async () => {
  await using store = open('transaction')
  await once(store, charge('k'), async () => 1)
  const before = await seen(store, 'k')
  expect(await store.admin.forget({ ...before, expiresAt: new Date(1) }, by)).toMatchObject({ state: 'finished' })
  expect(await store.admin.forget(before, by)).toBe('done')
  expect(await store.admin.find(charge('k'))).toBeUndefined()
})

test('a record that this build cannot read can be forgotten (S7), and not be erased', async () => {
  const path = file()
  await using store = open('transaction', path)
  await once(store, charge('k'), async () => 1)
  const outside = new Database(path)
  outside.exec('update oncekey_record set state = 77')
  outside.close()
  expect(await store.admin.erase(await seen(store, 'k'), by)).toMatchObject({ why: 'unknown-state' })
  expect(await store.admin.forget(await seen(store, 'k'), by)).toBe('done')
})

describe('I4: a file that was restored', () => {
  test('what was at work is unknown, with token, fence and end of deduplication; each is audited, and so is the file', async () => {
    const path = file()
    await using store = open('lease', path)
    await once(store, charge('open'), () => Promise.reject(new Error('a timeout'))).catch(() => {})
    const { id, prints } = identify(charge('running'))
    const outside = new Database(path)
    outside.exec(`insert into oncekey_record
      values (x'${id}', x'${prints[0]}', 9000000000000, 8000000000000, 5, x'${id}', 2, cast('{"key":"k","retainMs":1}' as blob))`)
    outside.close()
    await once(store, charge('finished'), async () => 'done')
    expect(await store.admin.restored({ ...by, onEpochChange: 'refuse' })).toEqual({ unknown: 2 })
    for (const key of ['open', 'running'])
      expect(await once(store, charge(key), never)).toMatchObject({
        kind: 'unknown',
        record: { why: 'the store was restored' },
      })
    const [row] = rows(path, `select token, fence, lease_end, expires_at from oncekey_record where k = x'${id}'`)
    expect(row).toMatchObject({
      token: Buffer.from(id, 'hex'),
      fence: 5,
      lease_end: null,
      expires_at: 9_000_000_000_000,
    })
    expect(await once(store, charge('finished'), never)).toMatchObject({ kind: 'replayed', value: 'done' })
    expect(rows(path, 'select action, state from oncekey_audit order by state')).toMatchObject([
      { action: 'restored', state: null },
      { action: 'restored', state: STATE.hold },
      { action: 'restored', state: STATE.open },
    ])
  })

  test.each(['transaction', 'lease'] as const)(
    '%s mode: who says so goes on; who ran before claims nothing after its next sweep',
    async (mode) => {
      const path = file()
      await using mine = open(mode, path)
      await using before = open(mode, path)
      for (const store of [mine, before]) await once(store, charge('old'), async () => 1)
      expect(await before.restored?.()).toBeUndefined()
      await mine.admin.restored({ ...by, onEpochChange: 'run' })
      await using later = open(mode, path)
      for (const store of [mine, later]) {
        expect(await store.restored?.()).toMatchObject({ onEpochChange: 'run' })
        expect(await store.admin.sweep()).toMatchObject({ complete: true })
      }
      const refused = expect.objectContaining({ code: 'SCHEMA_MISMATCH' })
      await expect(before.admin.sweep()).rejects.toEqual(refused)
      await expect(once(before, charge('new'), never)).rejects.toEqual(refused)
      await expect(end(before, 'new', { kind: 'free' })).rejects.toEqual(refused)
      await mine.admin.reconciled(by)
      await mine.admin.reconciled(by)
      expect(await mine.restored?.()).toBeUndefined()
      expect(rows(path, `select action from oncekey_audit where k = zeroblob(16) order by id`)).toMatchObject([
        { action: 'restored' },
        { action: 'reconciled' },
      ])
      expect(await later.restored?.()).toMatchObject({ onEpochChange: 'run' })
      await later.admin.sweep()
      expect(await later.restored?.()).toBeUndefined()
    },
  )
})

describe('a file of the first release, with records in it', () => {
  /** As that release made it: without the columns of the second one. */
  async function first(): Promise<string> {
    const path = file()
    await open('transaction', path).admin.migrate()
    const database = new Database(path)
    for (const column of ['restored_at', 'on_epoch_change', 'sweeper', 'sweeper_until', 'sweep_place'])
      database.exec(`alter table oncekey_meta drop column ${column}`)
    database.exec('delete from oncekey_migration where version > 1')
    finishThen(database, 'then')
    database.close()
    return path
  }
  /** The statement of that release, word for word. */
  function finishThen(database: InstanceType<typeof Database>, key: string): void {
    const { id, prints } = identify(charge(key))
    database.exec(`
      insert into main."oncekey_record" (k, fingerprint, expires_at, lease_end, fence, token, state, body)
      values (x'${id}', x'${prints[0]}', cast(round(unixepoch('subsec') * 1000) as integer) + 60000, null, null, null, 4, x'015b225a225d')`)
  }

  test('is brought up to date when it is opened, and its answers answer', async () => {
    const path = await first()
    await using store = open('transaction', path)
    expect(await once(store, charge('then'), never)).toMatchObject({ kind: 'replayed', value: 'Z' })
    expect(rows(path, 'select version from oncekey_migration')).toHaveLength(2)
    expect(await store.admin.sweep()).toMatchObject({ complete: true })
  })

  test('is refused where the operator wants to say when, until he does', async () => {
    const path = await first()
    await using store = sqlite(path, { driver: Database, migrations: 'manual' })
    await expect(once(store, charge('then'), never)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    await store.admin.migrate()
    expect(await once(store, charge('then'), never)).toMatchObject({ kind: 'replayed' })
  })

  test('once up to date, serves that release beside this one', async () => {
    const path = await first()
    await using store = open('transaction', path)
    await once(store, charge('now'), async () => 'now')
    const database = new Database(path)
    finishThen(database, 'theirs')
    const meta = database.prepare('select identity_scheme, min_reader, epoch from main."oncekey_meta"').get()
    expect(meta).toMatchObject({ identity_scheme: 1, min_reader: 1 })
    const over = `(state in (3, 4, 5) and expires_at <= cast(round(unixepoch('subsec') * 1000) as integer))`
    const { id } = identify(charge('now'))
    const look = database.prepare(`select state, ${over} as over from main."oncekey_record" where k = x'${id}'`).get()
    expect(look).toMatchObject({ state: STATE.finished, over: 0 })
    database.close()
    expect(await once(store, charge('theirs'), never)).toMatchObject({ kind: 'replayed', value: 'Z' })
  })
})
