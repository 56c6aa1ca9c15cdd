/** Files that are missing, broken, read-only, full or from another time: said clearly, and nothing is lost. */
import { mkdirSync, writeFileSync } from 'node:fs'
import Database from 'libsql'
import { expect, test } from 'vitest'
import { type Libsql, scratch } from '../../../../../test/sqlite/scratch.ts'
import { randomHex } from '../../core/digest.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import type { Store } from '../../core/store.ts'
import { sqlite } from './index.ts'

const file = scratch()
const charge = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as [string] })
const open = (path: string, setUp: (tx: Libsql) => void = () => {}) =>
  sqlite(path, { driver: Database, durability: 'normal', setUp, lockMs: 200 })

test.each([[':memory:'], [''], ['file:payments.db?mode=memory']])('%j is no file: INVALID_OPTION at once', (path) => {
  expect(() => open(path)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

test('a connection of the application’s own is refused, by type and at once', () => {
  const connection = new Database(file())
  // @ts-expect-error: a path, not a connection
  expect(() => sqlite(connection)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  connection.close()
})

test('a prefix that cannot begin a table’s name is INVALID_OPTION', () => {
  expect(() => sqlite(file(), { driver: Database, prefix: 'x"; drop table' })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION' }),
  )
})

test('a missing folder is STORE_UNAVAILABLE, and serves as soon as it is there', async () => {
  const folder = `${file()}-folder`
  await using store = open(`${folder}/payments.db`)
  const pay = () => once(store, charge('k'), async () => 1)
  await expect(pay()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { result: 'CANTOPEN' } })
  mkdirSync(folder)
  expect(await pay()).toMatchObject({ kind: 'ran' })
})

test('what is no database is STORE_UNAVAILABLE, and stays as it was', async () => {
  const path = file()
  writeFileSync(path, 'x'.repeat(5_000))
  await using store = open(path)
  const paid = once(store, charge('k'), async () => 1)
  await expect(paid).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { result: 'NOTADB' } })
})

test('a record page that is damaged is STORE_UNAVAILABLE, never a second run', async () => {
  const path = file()
  let runs = 0
  const pay = (store: ReturnType<typeof open>) => once(store, charge('k'), async () => ++runs)
  {
    await using store = open(path)
    await pay(store)
  }
  const broken = new Database(path)
  broken.exec('pragma writable_schema = on')
  broken.exec("update sqlite_schema set rootpage = 99999 where name = 'oncekey_record'")
  broken.close()
  await using store = open(path)
  await expect(pay(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { result: 'CORRUPT' } })
  expect(runs).toBe(1)
})

test('a file that cannot be written still replays, and runs nothing', async () => {
  const path = file()
  {
    await using store = open(path)
    await once(store, charge('old'), async () => 'kept')
  }
  await using store = open(path, (tx) => tx.exec('pragma query_only = on'))
  expect(await once(store, charge('old'), async () => 'again')).toMatchObject({ kind: 'replayed', value: 'kept' })
  const fresh = once(store, charge('new'), async () => 1)
  await expect(fresh).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { result: 'READONLY' } })
})

test.each(['transaction', 'lease'] as const)(
  '%s mode: a full disk loses no answer and runs nothing twice',
  async (mode) => {
    const path = file()
    const small = {
      driver: Database,
      lockMs: 100,
      setUp: (tx: Libsql) => void tx.exec('pragma max_page_count = 20'),
    } as const
    await using opened = mode === 'lease' ? sqlite(path, { ...small, mode, ...databaseOnly }) : sqlite(path, small)
    const store = opened as unknown as Store
    let runs = 0
    const kept: number[] = []
    const codes = new Set<string>()
    for (let n = 0; n < 60; n++) {
      const work = async () => {
        runs += 1
        return randomHex(1_500)
      }
      const policy = { work: 300, lease: 300 } as const
      await once(store, charge(`k${n}`), work, { policy }).then(
        () => kept.push(n),
        (error) => codes.add(error.code),
      )
      if (n - kept.length > 1) break
    }
    expect(kept.length).toBeGreaterThan(3)
    expect([...codes].every((code) => ['STORE_UNAVAILABLE', 'TRY_AGAIN', 'OUTCOME_UNKNOWN'].includes(code))).toBe(true)
    expect(codes.size).toBeGreaterThan(0)
    const before = runs
    for (const n of kept) expect(await once(store, charge(`k${n}`), async () => '')).toMatchObject({ kind: 'replayed' })
    expect(runs).toBe(before)
  },
)

test('without the tables, `manual` says SCHEMA_MISSING, and migrate() makes them', async () => {
  await using store = sqlite(file(), { driver: Database, migrations: 'manual' })
  const pay = () => once(store, charge('k'), async () => 1)
  await expect(pay()).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
  await store.admin.migrate()
  await store.admin.migrate()
  expect(await pay()).toMatchObject({ kind: 'ran' })
})

test.each([
  ['min_reader = 2', 'SCHEMA_TOO_NEW'],
  ['identity_scheme = 2', 'SCHEMA_MISMATCH'],
])('I4: a file with %s is %s', async (set, code) => {
  const path = file()
  {
    await using store = open(path)
    await store.admin.migrate()
  }
  const other = new Database(path)
  other.exec(`update oncekey_meta set ${set}`)
  other.close()
  await using store = open(path)
  await expect(once(store, charge('k'), async () => 1)).rejects.toMatchObject({ code })
})

test('I4: a sweep finds out that the file was replaced under the store', async () => {
  const path = file()
  await using store = open(path)
  await once(store, charge('k'), async () => 1)
  const other = new Database(path)
  other.exec('update oncekey_meta set epoch = randomblob(16)')
  other.close()
  await expect(store.admin.sweep()).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
})
