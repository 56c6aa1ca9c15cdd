/** Transaction mode on a file: one commit for record and writes, and an answer for everybody while it is going on. */
import Database from 'libsql'
import { expect, expectTypeOf, test } from 'vitest'
import { type Libsql, scratch } from '../../../../../test/sqlite/scratch.ts'
import { once } from '../../core/once.ts'
import { downstreamDedupes } from '../../core/policy.ts'
import { deferred } from '../../testing/store-contract/deferred.ts'
import { type SqliteOptions, sqlite } from './index.ts'

const file = scratch()
const charge = (key: string, body = 'body') => ({ scope: 'acct_1', key, fingerprints: [body] as [string] })

async function payments(options: SqliteOptions<Libsql> = {}, path = file()) {
  const store = sqlite(path, { driver: Database, durability: 'normal', ...options })
  await store.write((tx) => tx.exec('create table if not exists charge (id integer primary key, amount integer)'))
  const charges = () => store.write((tx) => (tx.prepare('select count(*) as n from charge').get() as { n: number }).n)
  return { store, path, charges, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
function pay(tx: Libsql, amount = 100): number {
  return Number(tx.prepare('insert into charge (amount) values (?)').run(amount).lastInsertRowid)
}

test('tx is the library’s own connection, without a cast', async () => {
  await using shop = await payments()
  const outcome = await once(shop.store, charge('k'), async ({ tx }) => {
    expectTypeOf(tx).toEqualTypeOf<Libsql>()
    return pay(tx)
  })
  expect(outcome).toMatchObject({ kind: 'ran', value: 1 })
  expect(await once(shop.store, charge('k'), async () => 2)).toMatchObject({ kind: 'replayed', value: 1 })
  expect(await shop.charges()).toBe(1)
})

test('without a driver the first library that is there is taken', async () => {
  await using store = sqlite(file())
  expect(await once(store, charge('k'), async ({ tx }) => tx.prepare('select 7 as seven').get())).toMatchObject({
    value: { seven: 7 },
  })
})

test('T16: work may wait for other things, and its duplicates are answered meanwhile', async () => {
  await using shop = await payments()
  const begun = deferred<void>()
  const goOn = deferred<void>()
  const first = once(shop.store, charge('k'), async ({ tx }) => {
    const id = pay(tx)
    begun.resolve()
    await goOn.promise
    return id
  })
  const queued = once(shop.store, charge('other'), async ({ tx }) => pay(tx))
  await begun.promise
  expect(await once(shop.store, charge('k'), async () => 0)).toMatchObject({ kind: 'busy' })
  expect(await once(shop.store, charge('k', 'another body'), async () => 0)).toEqual({ kind: 'mismatch' })
  goOn.resolve()
  expect(await first).toMatchObject({ kind: 'ran', value: 1 })
  expect(await queued).toMatchObject({ kind: 'ran', value: 2 })
})

test('T16: a replay needs no lock', async () => {
  await using shop = await payments({ lockMs: 50 })
  await once(shop.store, charge('k'), async () => 'kept')
  const other = new Database(shop.path)
  other.exec('begin immediate')
  expect(await once(shop.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'replayed', value: 'kept' })
  other.exec('rollback')
  other.close()
})

test('T16: a lock that does not come free is STORE_UNAVAILABLE after lockMs, and nothing ran', async () => {
  await using shop = await payments({ lockMs: 50 })
  const other = new Database(shop.path)
  other.exec('begin immediate')
  let ran = false
  const work = async () => {
    ran = true
  }
  const attempts = ['a', 'a', 'b'].map((key) => once(shop.store, charge(key), work))
  for (const ended of await Promise.allSettled(attempts))
    expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } })
  expect(ran).toBe(false)
  other.exec('rollback')
  other.close()
  expect(await once(shop.store, charge('a'), work)).toMatchObject({ kind: 'ran' })
})

test('T13: too many in the queue are told so at once', async () => {
  await using shop = await payments({ maxQueue: 2 })
  const goOn = deferred<void>()
  const first = once(shop.store, charge('first'), () => goOn.promise)
  await expect.poll(() => once(shop.store, charge('first'), async () => {})).toMatchObject({ kind: 'busy' })
  const waiting = [1, 2].map((n) => once(shop.store, charge(`waits ${n}`), async () => n))
  await expect(once(shop.store, charge('3'), async () => 3)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  goOn.resolve()
  await first
  for (const each of waiting) expect(await each).toMatchObject({ kind: 'ran' })
})

test('a caller that leaves while it waits for its turn is busy, and its work never runs', async () => {
  await using shop = await payments()
  const goOn = deferred<void>()
  const first = once(shop.store, charge('first'), () => goOn.promise)
  await expect.poll(() => once(shop.store, charge('first'), async () => {})).toMatchObject({ kind: 'busy' })
  const leaving = new AbortController()
  const waiting = once(shop.store, charge('second'), async () => 'ran', { signal: leaving.signal })
  leaving.abort()
  expect(await waiting).toMatchObject({ kind: 'busy' })
  goOn.resolve()
  await first
  expect(await shop.store.admin.find(charge('second'))).toBeUndefined()
})

test('T12: work that takes too long is rolled back, and its key is free', async () => {
  await using shop = await payments({ work: 30 })
  let signal: AbortSignal | undefined
  const endless = once(shop.store, charge('k'), (grant) => {
    signal = grant.signal
    pay(grant.tx)
    return new Promise<never>(() => {})
  })
  await expect(endless).rejects.toMatchObject({ code: 'TRY_AGAIN' })
  expect(signal?.aborted).toBe(true)
  expect(await shop.charges()).toBe(0)
  expect(await once(shop.store, charge('k'), async ({ tx }) => pay(tx))).toMatchObject({ kind: 'ran' })
})

test('T10: a constraint that fails at COMMIT is the work’s own error, and its key is free', async () => {
  await using shop = await payments()
  await shop.store.write((tx) =>
    tx.exec('create table refund (charge integer references charge (id) deferrable initially deferred)'),
  )
  const refund = (of: number) =>
    once(shop.store, charge('r'), async ({ tx }) => tx.prepare('insert into refund values (?)').run(of).changes)
  await expect(refund(1)).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
  await once(shop.store, charge('k'), async ({ tx }) => pay(tx))
  expect(await refund(1)).toMatchObject({ kind: 'ran' })
})

test('T9: the answer may be kept without the writes', async () => {
  await using shop = await payments()
  const policy = { judge: () => 'keep-undone' as const }
  const declined = await once(shop.store, charge('k'), async ({ tx }) => `declined ${pay(tx)}`, { policy })
  expect(declined).toMatchObject({ kind: 'ran', fate: 'kept' })
  expect(await shop.charges()).toBe(0)
  expect(await once(shop.store, charge('k'), async () => 'again')).toMatchObject({
    kind: 'replayed',
    value: 'declined 1',
  })
})

test('T12: a child key is only there where the downstream deduplicates', async () => {
  await using shop = await payments()
  const bank = once(shop.store, charge('k'), async (grant) => grant.childKey('bank'))
  await expect(bank).rejects.toMatchObject({ code: 'CHILD_KEY_UNSAFE' })
  const policy = { after: downstreamDedupes({ for: '24h' }) }
  expect(await once(shop.store, charge('k'), async (grant) => grant.childKey('bank'), { policy })).toMatchObject({
    kind: 'ran',
  })
})

test('T17: another operation inside the work is refused at once, not after a deadlock', async () => {
  await using shop = await payments()
  const nested = once(shop.store, charge('outer'), () => once(shop.store, charge('inner'), async () => 1))
  await expect(nested).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
  const same = once(shop.store, charge('outer'), () => once(shop.store, charge('outer', 'other'), async () => 1))
  await expect(same).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
  const inWrite = shop.store.write(() => once(shop.store, charge('inner'), async () => 1))
  await expect(inWrite).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
})

test('a store that is disposed waits for its work, and refuses what comes later', async () => {
  const shop = await payments()
  const goOn = deferred<void>()
  const running = once(shop.store, charge('k'), async ({ tx }) => {
    await goOn.promise
    return pay(tx)
  })
  await expect.poll(() => once(shop.store, charge('k'), async () => 0)).toMatchObject({ kind: 'busy' })
  const disposed = shop.store[Symbol.asyncDispose]()
  await expect(once(shop.store, charge('late'), async () => 0)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  goOn.resolve()
  expect(await running).toMatchObject({ kind: 'ran' })
  await disposed
  await using again = await payments({}, shop.path)
  expect(await again.charges()).toBe(1)
})

test('a disposed store gives up work that does not end', async () => {
  const shop = await payments({ drain: 30 })
  const endless = once(shop.store, charge('k'), () => new Promise<never>(() => {}))
  await expect.poll(() => once(shop.store, charge('k'), async () => 0)).toMatchObject({ kind: 'busy' })
  const closing = shop.store[Symbol.asyncDispose]()
  await expect(endless).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await closing
})
