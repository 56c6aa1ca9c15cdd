// The race of both articles: the same request 50 and 100 times at once, with 50 ms of work, for each way to prevent the second charge.
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf, ours } from '../ours.ts'
import { type Racing, race as raceAll, type Strategy } from '../race.ts'
import type { Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { articleOnce, checkThenInsert } from './article.ts'
import { ARTICLE, inLease, inTransaction, L_STOCK, T_PIPELINED, T_STOCK } from './contenders.ts'
import { charge, type Ground, ground } from './ground.ts'
import { type Stores, storesOn } from './stores.ts'

/** All at once means a connection for each. */
const CONNECTIONS = 100

export async function race(server: string, { quick }: Settings): Promise<readonly Section[]> {
  await using base = await ground(server, CONNECTIONS)
  await using stores = await storesOn(base, CONNECTIONS)
  const { pool } = base
  const racing: Racing = {
    title: 'PostgreSQL',
    runs: quick ? 2 : 20,
    async charges(key) {
      const { rows } = await pool.query('select count(*)::int as n from charges where client_id = $1', [key])
      return (rows[0] as { n: number }).n
    },
  }
  return await raceAll(strategies(base, stores), racing)
}

function strategies({ pool }: Ground, { stock, pipelined, lease }: Stores): readonly Strategy[] {
  return [
    {
      name: 'check, then insert',
      unsafe: true,
      once: (key, workMs) =>
        checkThenInsert(pool, key, (client) =>
          slowly(workMs, async () => bodyOf(await charge(client, { client: key }))),
        ),
    },
    {
      name: ARTICLE,
      once: (key, workMs) =>
        articleOnce(pool, key, (client) => slowly(workMs, async () => bodyOf(await charge(client, { client: key })))),
    },
    {
      name: T_STOCK,
      once: (key, workMs) => ours(stock, key, (grant) => slowly(workMs, () => inTransaction(grant, key))),
    },
    {
      name: T_PIPELINED,
      once: (key, workMs) => ours(pipelined, key, (grant) => slowly(workMs, () => inTransaction(grant, key))),
    },
    { name: L_STOCK, once: (key, workMs) => ours(lease, key, (grant) => slowly(workMs, () => inLease(grant, key))) },
  ]
}

async function slowly<T>(ms: number, work: () => Promise<T>): Promise<T> {
  await sleep(ms)
  return work()
}
