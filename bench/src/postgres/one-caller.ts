// What one caller waits for: a new key beside a bare INSERT, a repeat beside a SELECT, and the claim alone.
import { type Measured, sideBySide } from '../measure.ts'
import { ratio, rowsOf, type Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { ARTICLE, claims, L_PIPELINED, L_STOCK, newKeys, replays, T_FIRST, T_PIPELINED, T_STOCK } from './contenders.ts'
import { ground } from './ground.ts'
import { storesOn } from './stores.ts'

const CONNECTIONS = 5

export async function oneCaller(server: string, { rounds, quick }: Settings): Promise<readonly Section[]> {
  await using base = await ground(server, CONNECTIONS)
  await using stores = await storesOn(base, CONNECTIONS)
  const fresh = await sideBySide(newKeys(base, stores), { rounds, operations: quick ? 30 : 250 })
  const repeated = await sideBySide(await replays(base, stores), { rounds, operations: quick ? 60 : 500 })
  const claimed = await sideBySide(claims(base, stores), { rounds, operations: quick ? 30 : 250 })
  return [
    { title: 'PostgreSQL, a new key, one caller', rows: rowsOf(fresh), findings: newFindings(fresh) },
    { title: 'PostgreSQL, a repeat, one caller', rows: rowsOf(repeated), findings: replayFindings(repeated) },
    { title: 'PostgreSQL, from the call until the work begins, one caller', rows: rowsOf(claimed), findings: [] },
  ]
}

function newFindings(fresh: readonly Measured[]): Section['findings'] {
  return [
    ratio(fresh, { name: ARTICLE }),
    ratio(fresh, { name: T_STOCK, must: 3.2, aim: 2.7 }),
    ratio(fresh, { name: T_PIPELINED, must: 2.6, aim: 2.1 }),
    ratio(fresh, { name: L_STOCK, must: 3.2, aim: 2.7 }),
    ratio(fresh, { name: L_PIPELINED, must: 3.2, aim: 2.7 }),
    ratio(fresh, { name: T_STOCK, to: ARTICLE, must: 0.75, aim: 0.62 }),
    ratio(fresh, { name: T_PIPELINED, to: ARTICLE, must: 0.75, aim: 0.62 }),
  ]
}

function replayFindings(repeated: readonly Measured[]): Section['findings'] {
  return [
    ratio(repeated, { name: ARTICLE }),
    ratio(repeated, { name: T_FIRST, must: 1.2, aim: 1.1 }),
    ratio(repeated, { name: T_PIPELINED, must: 2.5, aim: 2 }),
    ratio(repeated, { name: T_STOCK, must: 3, aim: 2.5 }),
    ratio(repeated, { name: L_STOCK, must: 1.6, aim: 1.4 }),
    ratio(repeated, { name: L_PIPELINED, must: 1.6, aim: 1.4 }),
  ]
}
