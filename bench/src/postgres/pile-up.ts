// 99 duplicates of a held key on PostgreSQL: the article's claim locks the row for each, ours lock nothing.
import type { Grant, Store } from 'oncekey'
import { answerOf, bodyOf, ours } from '../ours.ts'
import { type Held, pileUpOn } from '../pile-up.ts'
import { ratio, type Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { articleOnce, claimOnly, readOnly } from './article.ts'
import { ARTICLE, CLAIM, L_STOCK, SELECT, T_FIRST, T_PIPELINED, T_STOCK } from './contenders.ts'
import { charge, type Ground, ground } from './ground.ts'
import { type Stores, storesOn } from './stores.ts'

const CONNECTIONS = 100

export async function pileUp(server: string, { quick }: Settings): Promise<readonly Section[]> {
  await using base = await ground(server, CONNECTIONS)
  await using stores = await storesOn(base, CONNECTIONS)
  const piled = await pileUpOn(contenders(base, stores), quick ? 2 : 20)
  const asked = (name: string) => ratio(piled, { name, to: CLAIM, must: 0.3, aim: 0.15 })
  return [
    {
      title: 'PostgreSQL, 99 duplicates of a key that is held for 400 ms',
      rows: piled.map(({ name, ms, ratio: { median, low, high } }) => ({
        contender: name,
        'all back, ms': ms.toFixed(1),
        ratio: median.toFixed(2),
        quartiles: `${low.toFixed(2)}-${high.toFixed(2)}`,
      })),
      findings: [asked(T_STOCK), asked(T_PIPELINED), asked(L_STOCK), ratio(piled, { name: T_FIRST, to: CLAIM })],
    },
  ]
}

function contenders({ pool }: Ground, { stock, stockFirst, pipelined, lease }: Stores): readonly Held[] {
  const article = (key: string, taken: () => void, over: Promise<unknown>) =>
    articleOnce(pool, key, async (client) => {
      taken()
      await over
      return bodyOf(await charge(client))
    })
  return [
    { name: SELECT, hold: article, duplicate: (key) => readOnly(pool, key) },
    { name: CLAIM, hold: article, duplicate: (key) => claimOnly(pool, key) },
    { name: ARTICLE, hold: article, duplicate: (key) => articleOnce(pool, key, async () => bodyOf(1)) },
    oursOn(T_STOCK, stock),
    oursOn(T_FIRST, stockFirst),
    oursOn(T_PIPELINED, pipelined),
    oursOn(L_STOCK, lease),
  ]
}

function oursOn<G extends Grant>(name: string, store: Store<G>): Held {
  return {
    name,
    hold: (key, taken, over) =>
      ours(store, key, async () => {
        taken()
        await over
        return answerOf(1)
      }),
    duplicate: (key) => ours(store, key, async () => answerOf(1), 'busy'),
  }
}
