// What a completed key takes on disk, its indexes included: filled through each protocol itself, not by hand.
import { randomUUID } from 'node:crypto'
import { newKey } from 'oncekey/client'
import { filled } from '../fill.ts'
import { answerOf, bodyOf, ours } from '../ours.ts'
import type { Finding, Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { articleOnce } from './article.ts'
import { type Ground, ground } from './ground.ts'
import { type Stores, storesOn } from './stores.ts'

const CALLERS = 16

interface Filling {
  readonly what: string
  readonly table: string
  fill(at: number): Promise<unknown>
  readonly must?: number
}

export async function bytes(server: string, { quick }: Settings): Promise<readonly Section[]> {
  const keys = quick ? 500 : 100_000
  const findings: Finding[] = []
  // In turn, and each on a database of its own: a table is measured as it was filled.
  for (let turn = 0; ; turn++) {
    await using base = await ground(server, CALLERS)
    await using stores = await storesOn(base, CALLERS)
    const filling = fillings(base, stores)[turn]
    if (filling === undefined) break
    // The same pages without a log, so that no fsync is waited for 100,000 times.
    await base.pool.query(`alter table ${filling.table} set unlogged`)
    await filled(filling.fill, keys, CALLERS)
    findings.push(findingOf(filling, (await sizeOf(base, filling.table)) / keys, quick))
  }
  const title = `PostgreSQL, bytes per completed key, ${keys.toLocaleString('en')} keys, 201 and 45 bytes of JSON, indexes included`
  return [{ title, rows: [], findings }]
}

function findingOf({ what, must }: Filling, value: number, quick: boolean): Finding {
  // On so few keys the empty pages of an index weigh more than the keys.
  return { what: `bytes per key, ${what}`, value, ...(must === undefined || quick ? {} : { must }) }
}

function fillings({ pool }: Ground, { pipelined, lease }: Stores): readonly Filling[] {
  const table = 'oncekey.record'
  return [
    {
      what: 'the article',
      table: 'article_keys',
      fill: (at) => articleOnce(pool, randomUUID(), async () => bodyOf(at)),
    },
    {
      what: 'T, random keys',
      table,
      must: 175,
      fill: (at) => ours(pipelined, randomUUID(), async () => answerOf(at), 'ran'),
    },
    {
      what: 'T, keys in the order of time',
      table,
      must: 162,
      fill: (at) => ours(pipelined, newKey(), async () => answerOf(at), 'ran'),
    },
    {
      what: 'T, with a Location',
      table,
      must: 215,
      fill: (at) => ours(pipelined, randomUUID(), async () => answerOf(at, 'located'), 'ran'),
    },
    {
      what: 'L, random keys',
      table,
      must: 200,
      fill: (at) => ours(lease, randomUUID(), async () => answerOf(at), 'ran'),
    },
    {
      what: 'L, with a Location',
      table,
      must: 245,
      fill: (at) => ours(lease, randomUUID(), async () => answerOf(at, 'located'), 'ran'),
    },
  ]
}

/** Heap and all indexes; the maps of free space that a vacuum makes are not the keys'. */
async function sizeOf({ pool }: Ground, table: string): Promise<number> {
  const { rows } = await pool.query('select pg_relation_size($1::regclass) + pg_indexes_size($1::regclass) as bytes', [
    table,
  ])
  return Number((rows[0] as { bytes: string }).bytes)
}
