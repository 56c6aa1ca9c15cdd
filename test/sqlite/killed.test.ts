/** Processes that end at any step, in the middle of a charge: the next one charges once, or answers with the first charge. */
import Database from 'libsql'
import { expect, test } from 'vitest'
import { once } from '../../packages/oncekey/src/core/once.ts'
import { databaseOnly } from '../../packages/oncekey/src/core/policy.ts'
import { sqlite } from '../../packages/oncekey/src/stores/sqlite/index.ts'
import { type Libsql, scratch } from './scratch.ts'
import { startWorker } from './start-worker.ts'

const file = scratch()
const operation = { scope: 'acct_1', key: 'k', fingerprints: ['body'] as [string] } as const

async function killedAt(mode: 'transaction' | 'lease', dieAt: string) {
  const path = file()
  const database = new Database(path)
  database.exec('pragma journal_mode = wal; create table charge (id integer primary key, key text not null)')
  const { signal } = await startWorker({ path, mode, dieAt, leaseMs: 1_000, claims: [{ key: 'k', times: 1 }] }).ended
  expect(signal).toBe('SIGKILL')
  const charges = () => (database.prepare('select count(*) as n from charge').get() as { n: number }).n
  return { path, charges, [Symbol.dispose]: () => void database.close() }
}
const pay = (tx: Libsql) => Number(tx.prepare("insert into charge (key) values ('k')").run().lastInsertRowid)

test.each(['claimed', 'keeping'])(
  'transaction mode, killed at `%s`: the key is free at once, and nothing is left',
  async (event) => {
    using shop = await killedAt('transaction', event)
    expect(shop.charges()).toBe(0)
    await using store = sqlite(shop.path, { driver: Database })
    expect(await once(store, operation, async ({ tx }) => pay(tx))).toMatchObject({ kind: 'ran', value: 1 })
    expect(shop.charges()).toBe(1)
  },
)

test.each(['claimed', 'keeping'])(
  'lease mode, killed at `%s`: busy for the lease, then taken over, and charged once',
  async (event) => {
    using shop = await killedAt('lease', event)
    expect(shop.charges()).toBe(0)
    await using store = sqlite(shop.path, { driver: Database, mode: 'lease', ...databaseOnly })
    const again = () => once(store, operation, async (grant) => pay(await grant.begin()))
    await expect.poll(again, { timeout: 5_000 }).toMatchObject({ kind: 'ran', value: 1 })
    expect(await again()).toMatchObject({ kind: 'replayed', value: 1 })
    expect(shop.charges()).toBe(1)
  },
)

test.each(['transaction', 'lease'] as const)(
  '%s mode, killed at `kept`: the answer had not left, and is there',
  async (mode) => {
    using shop = await killedAt(mode, 'kept')
    expect(shop.charges()).toBe(1)
    await using store = sqlite(shop.path, { driver: Database })
    expect(await once(store, operation, async ({ tx }) => pay(tx))).toMatchObject({ kind: 'replayed', value: 'paid' })
    expect(shop.charges()).toBe(1)
  },
)
