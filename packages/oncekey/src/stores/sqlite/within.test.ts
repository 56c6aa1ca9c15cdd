/** T15: an operation inside an open transaction is kept with it and undone with it. */
import Database from 'libsql'
import { expect, test } from 'vitest'
import { type Libsql, scratch } from '../../../../../test/sqlite/scratch.ts'
import { once } from '../../core/once.ts'
import { deferred } from '../../testing/store-contract/deferred.ts'
import { sqlite } from './index.ts'

const file = scratch()
const named = (key: string, body = 'body') => ({ scope: 'acct_1', key, fingerprints: [body] as [string] })

async function shop() {
  const store = sqlite(file(), { driver: Database, durability: 'normal' })
  await store.write((tx) => tx.exec('create table line (text text not null)'))
  const lines = async () => {
    const rows = await store.write((tx) => tx.prepare('select text from line order by 1').all())
    return (rows as { text: string }[]).map(({ text }) => text)
  }
  return { store, lines, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
const add = (tx: Libsql, text: string) => tx.prepare('insert into line values (?)').run(text).changes

test('the inner operation is kept when the outer one commits, and its repeat finds it', async () => {
  await using here = await shop()
  const { store } = here
  await once(store, named('outer'), async ({ tx }) => {
    for (const kind of ['ran', 'replayed'])
      expect(await once(store.within(tx), named('inner'), async (inner) => add(inner.tx, 'inner'))).toMatchObject({
        kind,
      })
  })
  expect(await once(store, named('inner'), async () => 0)).toMatchObject({ kind: 'replayed', value: 1 })
  expect(await here.lines()).toEqual(['inner'])
})

test('it is undone with the outer one, and runs again', async () => {
  await using here = await shop()
  const { store } = here
  const outer = once(store, named('outer'), async ({ tx }) => {
    await once(store.within(tx), named('inner'), async (inner) => add(inner.tx, 'undone'))
    throw new Error('after all')
  })
  await expect(outer).rejects.toThrow('after all')
  expect(await here.lines()).toEqual([])
  expect(await once(store, named('inner'), async ({ tx }) => add(tx, 'again'))).toMatchObject({ kind: 'ran' })
})

test('an inner one that throws undoes what it wrote, and nothing of the outer one', async () => {
  await using here = await shop()
  const { store } = here
  await once(store, named('outer'), async ({ tx }) => {
    add(tx, 'outer')
    const inner = once(store.within(tx), named('inner'), async () => {
      add(tx, 'inner')
      throw new Error('declined')
    })
    await expect(inner).rejects.toThrow('declined')
    const undone = { policy: { judge: () => 'keep-undone' as const } }
    await once(store.within(tx), named('undone'), async () => add(tx, 'undone'), undone)
  })
  expect(await here.lines()).toEqual(['outer'])
  expect(await once(store, named('undone'), async () => 0)).toMatchObject({ kind: 'replayed', value: 1 })
})

test('while the outer one is open, callers elsewhere are told at once that the inner one runs', async () => {
  await using here = await shop()
  const { store } = here
  const inside = deferred<void>()
  const goOn = deferred<void>()
  const outer = store.write(async (tx) => {
    await once(store.within(tx), named('inner'), async () => add(tx, 'inner'))
    inside.resolve()
    await goOn.promise
  })
  await inside.promise
  expect(await once(store, named('inner'), async () => 0)).toMatchObject({ kind: 'busy' })
  expect(await once(store, named('inner', 'other'), async () => 0)).toEqual({ kind: 'mismatch' })
  goOn.resolve()
  await outer
  expect(await once(store, named('inner'), async () => 0)).toMatchObject({ kind: 'replayed' })
})

test('T17: the outer operation inside itself is refused through its own handle too', async () => {
  await using here = await shop()
  const { store } = here
  const work = ({ tx }: { tx: Libsql }) => once(store.within(tx), named('outer', 'other'), async () => 0)
  await expect(once(store, named('outer'), work)).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
  const attempting = store.write(async (tx) => {
    const how = { policy: { ...POLICY }, repeatable: true }
    return store.within(tx).attempt(named('k'), how, async (grant) => {
      const inner = store.within(grant.tx).attempt(named('k', 'other'), how, async () => ({ kind: 'free' }))
      await expect(inner).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
      return { kind: 'free' }
    })
  })
  expect(await attempting).toEqual({ kind: 'won', fate: 'freed' })
})

test('a tx that is over, or none of the store’s, is refused', async () => {
  await using here = await shop()
  let leaked: Libsql | undefined
  await here.store.write((tx) => {
    leaked = tx
  })
  const foreign = new Database(file())
  for (const tx of [leaked as Libsql, foreign])
    expect(() => here.store.within(tx)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  foreign.close()
})

const POLICY = {
  onFailure: 'free',
  onAbandoned: 'takeover',
  retainMs: 60_000,
  workMs: 1_000,
  leaseMs: 1_000,
  rerunnable: false,
  discardable: false,
} as const
