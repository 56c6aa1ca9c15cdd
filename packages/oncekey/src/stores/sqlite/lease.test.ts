/** Lease mode on a file: `begin()` opens the user's transaction late, and its claim stands or falls with it. */
import Database from 'libsql'
import { expect, expectTypeOf, test } from 'vitest'
import { type Libsql, scratch } from '../../../../../test/sqlite/scratch.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { deferred } from '../../testing/store-contract/deferred.ts'
import { sqlite } from './index.ts'

const file = scratch()
const charge = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as [string] })

async function shop() {
  const connections: Libsql[] = []
  const store = sqlite(file(), {
    driver: Database,
    durability: 'normal',
    lockMs: 1_000,
    drain: 100,
    mode: 'lease',
    ...databaseOnly,
    setUp: (connection) => void connections.push(connection),
  })
  await store.write((tx) => tx.exec('create table charge (amount integer unique)'))
  const amounts = async () => {
    const rows = await store.write((tx) => tx.prepare('select amount from charge order by 1').all())
    return (rows as { amount: number }[]).map(({ amount }) => amount)
  }
  const [writer] = connections as [Libsql]
  return { store, writer, amounts, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
const pay = (tx: Libsql, amount: number) => tx.prepare('insert into charge values (?)').run(amount).changes

test('L1: no lock is held before begin(), and begin() gives the library’s own connection', async () => {
  await using here = await shop()
  const goOn = deferred<void>()
  const first = once(here.store, charge('slow'), async (grant) => {
    await goOn.promise
    const tx = await grant.begin()
    expectTypeOf(tx).toEqualTypeOf<Libsql>()
    expect(await grant.begin()).toBe(tx)
    return pay(tx, 1)
  })
  expect(await once(here.store, charge('fast'), async (grant) => pay(await grant.begin(), 2))).toMatchObject({
    kind: 'ran',
  })
  goOn.resolve()
  expect(await first).toMatchObject({ kind: 'ran' })
  expect(await here.amounts()).toEqual([1, 2])
})

test('L2: while its transaction is open a claim needs no beat, however short its lease', async () => {
  await using here = await shop()
  const slow = once(
    here.store,
    charge('k'),
    async (grant) => {
      const tx = await grant.begin()
      await new Promise((resolve) => setTimeout(resolve, 400))
      return pay(tx, 1)
    },
    { policy: { lease: 150 } },
  )
  expect(await slow).toMatchObject({ kind: 'ran' })
})

test('work that overruns with its transaction open loses its writes, its lock and its handle', async () => {
  await using here = await shop()
  let leaked: Libsql | undefined
  const endless = once(
    here.store,
    charge('k'),
    async (grant) => {
      leaked = await grant.begin()
      pay(leaked, 1)
      return new Promise<never>(() => {})
    },
    { policy: { work: 100 } },
  )
  await expect(endless).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect(() => leaked && pay(leaked, 2)).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
  expect(await here.amounts()).toEqual([])
  expect(await once(here.store, charge('k'), async () => 0)).toMatchObject({ kind: 'unknown' })
})

test('T10: what SQLite has rolled back is never kept as if it stood', async () => {
  await using here = await shop()
  await once(here.store, charge('first'), async (grant) => pay(await grant.begin(), 1))
  // Many times, since claim and begin() fall into one millisecond of SQLite's clock only now and then.
  for (let time = 0; time < 40; time += 1) {
    const swallowing = once(here.store, charge(`k${time}`), async (grant) => {
      const tx = await grant.begin()
      try {
        tx.exec('insert or rollback into charge values (1)')
      } catch {
        // As if nothing were.
      }
      return 'done'
    })
    await expect(swallowing).rejects.toMatchObject({ code: 'TX_ABORTED' })
  }
  expect(await once(here.store, charge('k0'), async () => 'again')).toMatchObject({ kind: 'ran' })
})

test('T3: a COMMIT from outside is an unknown outcome', async () => {
  await using here = await shop()
  const ended = once(
    here.store,
    charge('k'),
    async (grant) => {
      pay(await grant.begin(), 1)
      here.writer.exec('commit')
    },
    { policy: { work: 1_000 } },
  )
  await expect(ended).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect(await once(here.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'unknown' })
})

test('another operation inside an open transaction is refused at once', async () => {
  await using here = await shop()
  const nested = once(here.store, charge('outer'), async (grant) => {
    await grant.begin()
    return once(here.store, charge('inner'), async () => 1)
  })
  await expect(nested).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
})
