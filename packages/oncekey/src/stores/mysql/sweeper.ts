/** Sweeps the table in the order of its keys, in bounded transactions with rests between them, one sweeper at a time. */
import { randomBytes } from 'node:crypto'
import { sleep } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { Admin } from '../../core/store.ts'
import type { Database, Row, Statement } from '../database/database.ts'
import { STATE } from '../row.ts'
import type { Names } from './names.ts'
import {
  abandoned,
  claimSweep,
  ended,
  endSweep,
  expired,
  goOnFrom,
  removed,
  reopened,
  stretch,
  sweepPlace,
} from './statements/admin/sweep.ts'

const BATCH = 10_000
const PAUSE_MS = 20
const START = '0'.repeat(32)

export interface SweeperOptions {
  readonly names: Names
  check(): Promise<void>
}

export function createSweeper<Tx>(database: Database<Tx>, { names, check }: SweeperOptions): Admin['sweep'] {
  return async function sweep({ batch = BATCH, pauseMs = PAUSE_MS, limit = Number.POSITIVE_INFINITY, signal } = {}) {
    if (!Number.isSafeInteger(batch) || batch < 1) throw noBatch(batch)
    await check()
    const token = randomBytes(16).toString('hex')
    const total = { removed: 0, expired: 0, abandoned: 0, complete: false }
    const [claimed] = await database.query(claimSweep(names, token))
    if (Number(claimed?.affected) !== 1) return { ...total, elsewhere: true }
    try {
      const [found] = await database.query(sweepPlace(names))
      let place = typeof found?.place === 'string' ? found.place : START
      for (let looked = 0; looked < limit && !signal?.aborted; ) {
        const step = await sweepStretch(place, Math.min(batch, limit - looked), token)
        looked += step.looked
        for (const fate of FATES) total[fate] += step.done[fate]
        if (step.done.removed + step.done.expired + step.done.abandoned > 0)
          tell('swept', { store: 'mysql', ...step.done })
        total.complete = step.last === undefined
        if (step.last === undefined) break
        place = step.last
        await sleep(pauseMs, signal)
      }
      return total
    } finally {
      await database.query(endSweep(names, token))
    }
  }

  /** Without `last` the table's end is reached, and the next sweep begins at its beginning. */
  async function sweepStretch(after: string, records: number, token: string) {
    const [reach] = await database.query(stretch(names, after, records))
    const looked = Number(reach?.looked ?? 0)
    const last = typeof reach?.last === 'string' ? reach.last : undefined
    const next = looked < records ? undefined : last
    const forth = goOnFrom(names, token, next ?? null)
    const opening = last === undefined ? [] : [ended(names, after, last)]
    const done = await database.transaction(opening, async function act(_tx, [rows = []]) {
      const statements = rows.length === 0 ? [] : ending(rows)
      return { commit: [...statements, forth], value: countOf(rows) }
    })
    return { looked, last: next, done }
  }

  function ending(rows: readonly Row[]): readonly Statement[] {
    const ids = (fate: (typeof FATES)[number]) => rows.filter((row) => row.fate === fate)
    const [gone, outlived, left] = [ids('removed'), ids('expired'), ids('abandoned')]
    const taken = left.filter(({ state }) => Number(state) === STATE.takeover)
    const held = left.filter(({ state }) => Number(state) === STATE.hold)
    return [
      ...(gone.length === 0 ? [] : [removed(names, gone.map(idOf))]),
      ...(outlived.length === 0 ? [] : [expired(names, outlived.map(idOf))]),
      ...(held.length === 0 ? [] : [abandoned(names, held.map(idOf))]),
      ...taken.map((row) => reopened(names, idOf(row), retentionIn(row.body))),
    ]
  }
}

const FATES = ['removed', 'expired', 'abandoned'] as const

function countOf(rows: readonly Row[]) {
  const counts = { removed: 0, expired: 0, abandoned: 0 }
  for (const { fate } of rows) counts[fate as (typeof FATES)[number]] += 1
  return counts
}

function idOf({ k }: Row): string {
  return String(k)
}

/** What its writer would have kept an answer for (S5). */
function retentionIn(body: unknown): number | undefined {
  try {
    const { retainMs } = JSON.parse(new TextDecoder().decode(body as Uint8Array)) as { retainMs?: unknown }
    return typeof retainMs === 'number' ? retainMs : undefined
  } catch {
    return undefined
  }
}

function noBatch(batch: number): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `A batch of ${batch} records cannot be swept.`,
    where: 'sweep',
    why: 'The sweep would go on for ever and remove nothing.',
    fix: 'Give a whole number of records, 1 or more; 10,000 is the default.',
  })
}
