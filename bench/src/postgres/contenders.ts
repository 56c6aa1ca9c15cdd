// The protocols that stand side by side: the same work behind each.
import { randomUUID } from 'node:crypto'
import type { Grant, InTransaction, LeasedInDatabase, Store } from 'oncekey'
import type { PoolClient } from 'pg'
import type { Contender } from '../measure.ts'
import { answerOf, bodyOf, expect, ours } from '../ours.ts'
import { articleOnce, claimOnly, readOnly } from './article.ts'
import { charge, type Ground } from './ground.ts'
import type { InPg, Stores } from './stores.ts'

export const FLOOR = 'INSERT alone'
export const ARTICLE = "the article's protocol"
export const T_STOCK = 'T on pg'
export const T_PIPELINED = 'T on pg, pipelined'
export const T_FIRST = 'T on pg, read first'
export const L_STOCK = 'L on pg'
export const L_PIPELINED = 'L on pg, pipelined'

export async function inTransaction({ tx }: InTransaction<PoolClient>, client?: string) {
  return answerOf(await charge(tx, client === undefined ? {} : { client }))
}
export async function inLease({ begin }: LeasedInDatabase<PoolClient>, client?: string) {
  return answerOf(await charge(await begin(), client === undefined ? {} : { client }))
}

/** A key that nobody has used. */
export function newKeys({ pool }: Ground, { stock, pipelined, lease, leasePipelined }: Stores): readonly Contender[] {
  return [
    { name: FLOOR, once: () => charge(pool, { table: 'floor_charges' }) },
    {
      name: ARTICLE,
      once: async () =>
        expect(await articleOnce(pool, randomUUID(), async (client) => bodyOf(await charge(client))), 'new'),
    },
    { name: T_STOCK, once: () => ours(stock, randomUUID(), inTransaction, 'ran') },
    { name: T_PIPELINED, once: () => ours(pipelined, randomUUID(), inTransaction, 'ran') },
    { name: L_STOCK, once: () => ours(lease, randomUUID(), inLease, 'ran') },
    { name: L_PIPELINED, once: () => ours(leasePipelined, randomUUID(), inLease, 'ran') },
  ]
}

export const SELECT = 'SELECT by primary key'
const STORED = 500

/** A key whose operation is over. */
export async function replays({ pool }: Ground, stores: Stores): Promise<readonly Contender[]> {
  const keys = Array.from({ length: STORED }, () => randomUUID())
  for (const key of keys) {
    await articleOnce(pool, key, async (client) => bodyOf(await charge(client)))
    await ours(stores.stock, `t-${key}`, inTransaction, 'ran')
    await ours(stores.lease, `l-${key}`, inLease, 'ran')
  }
  const any = () => keys[Math.floor(Math.random() * STORED)] as string
  const replay = (name: string, store: InPg): Contender => ({
    name,
    once: () => ours(store, `t-${any()}`, never, 'replayed'),
  })
  return [
    { name: SELECT, once: async () => expect((await readOnly(pool, any())) ?? '', 'completed') },
    { name: ARTICLE, once: async () => expect(await articleOnce(pool, any(), never), 'replay') },
    replay(T_STOCK, stores.stock),
    replay(T_PIPELINED, stores.pipelined),
    replay(T_FIRST, stores.stockFirst),
    { name: L_STOCK, once: () => ours(stores.lease, `l-${any()}`, never, 'replayed') },
    { name: L_PIPELINED, once: () => ours(stores.leasePipelined, `l-${any()}`, never, 'replayed') },
  ]
}

export const CLAIM = "the article's claim"

/** From the call to the beginning of the work: what the article measured as the cost of a claim. */
export function claims({ pool }: Ground, { stock, pipelined, lease, leasePipelined }: Stores): readonly Contender[] {
  return [
    { name: CLAIM, once: () => claimOnly(pool, randomUUID()) },
    { name: T_STOCK, once: () => untilWork(stock) },
    { name: T_PIPELINED, once: () => untilWork(pipelined) },
    { name: L_STOCK, once: () => untilWork(lease) },
    { name: L_PIPELINED, once: () => untilWork(leasePipelined) },
  ]
}

async function untilWork<G extends Grant>(store: Store<G>): Promise<number> {
  const called = performance.now()
  let begun = called
  await ours(store, randomUUID(), async () => {
    begun = performance.now()
    return answerOf(1)
  })
  return begun - called
}

async function never(): Promise<never> {
  throw new Error('a repeat was run')
}
