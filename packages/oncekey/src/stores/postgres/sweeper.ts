/** Sweeps the table from its beginning to its end, one sweep at a time, in bounded statements with rests between them. */
import { sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { Admin, SweepOptions, Swept } from '../../core/store.ts'
import type { Database, Row } from '../database/database.ts'
import type { Names } from './names.ts'
import { beginSweep } from './statements/admin/begin-sweep.ts'
import { endSweep } from './statements/admin/end-sweep.ts'
import { keepSweep } from './statements/admin/keep-sweep.ts'
import { type Place, placeFrom, START } from './statements/admin/place.ts'
import { sweep } from './statements/admin/sweep.ts'
import { untilDecided } from './until-decided.ts'

/** Small batches walk over each other's dead rows (1,000 at a time: 82,000 rows/s), large ones are felt by traffic (50,000: p99 × 3). */
const BATCH = 10_000
const PAUSE_MS = 20
/** 32 MB: a statement over rows that all stay reads it in some tens of milliseconds. */
const BLOCKS = 4_096
/** A tenth of a megabyte: a call that may look at a handful of records comes through a table of empty pages all the same. */
const FEWEST_BLOCKS = 16
/** A sweeper that died is waited for as long as this; one that lives renews its claim with every batch. */
const CLAIM_MS = 60_000
/** Where nobody has analyzed the table yet: 8 kB by the 160 bytes that a record takes. */
const RECORDS_PER_BLOCK = 50

export interface SweeperOptions {
  readonly names: Names
  check(): Promise<void>
}
interface Claim {
  readonly sweeper: string
  readonly forMs: number
}
interface Walk {
  /** Where it has come to; the beginning again, when it is complete. */
  place: Place
  complete: boolean
  readonly total: { removed: number; expired: number; abandoned: number }
}

export function createSweeper<Tx>(database: Database<Tx>, { names, check }: SweeperOptions): Admin['sweep'] {
  const statements = { begin: beginSweep(names), keep: keepSweep(names), end: endSweep(names), sweep: sweep(names) }

  return async function sweepOn({ batch = BATCH, pauseMs = PAUSE_MS, limit = Number.POSITIVE_INFINITY, signal } = {}) {
    if (!Number.isSafeInteger(batch) || batch < 1) throw unsweepable('batch', batch)
    if (!(limit >= 1)) throw unsweepable('limit', limit)
    await check()
    const claim: Claim = { sweeper: randomHex(16), forMs: CLAIM_MS + pauseMs }
    const begun = await begin(claim)
    const walk: Walk = {
      place: placeFrom(begun?.sweep_place),
      complete: false,
      total: { removed: 0, expired: 0, abandoned: 0 },
    }
    if (!begun) return { ...walk.total, complete: false, elsewhere: true } satisfies Swept
    const density = Number(begun.density ?? RECORDS_PER_BLOCK)
    try {
      await walkOn(walk, claim, { batch, pauseMs, limit, density, signal })
    } finally {
      // Where this fails, the claim ends by itself.
      const { complete, place } = walk
      await database.query(statements.end(claim.sweeper, complete ? undefined : place)).catch(() => {})
    }
    return { ...walk.total, complete: walk.complete }
  }

  async function begin({ sweeper, forMs }: Claim): Promise<Row | undefined> {
    const { row } = await untilDecided(sweeper, async function claim() {
      const [row] = await database.query(statements.begin(sweeper, forMs))
      return { row }
    })
    return row
  }

  interface Steps extends Required<Pick<SweepOptions, 'batch' | 'pauseMs' | 'limit'>> {
    readonly density: number
    readonly signal: AbortSignal | undefined
  }

  async function walkOn(walk: Walk, { sweeper, forMs }: Claim, steps: Steps): Promise<void> {
    const { batch, pauseMs, limit, density, signal } = steps
    for (let looked = 0; !signal?.aborted; ) {
      const from = walk.place
      const left = Math.ceil(limit - looked)
      const wanted = Math.min(batch, left)
      const toBlock = from.block + Math.max(FEWEST_BLOCKS, Math.min(BLOCKS, Math.ceil(left / density)))
      const [row] = await database.query(statements.sweep({ from, toBlock, batch: wanted }))
      const [found, blocks] = [Number(row?.found), Number(row?.blocks)]
      add(walk.total, row)
      walk.place = found === wanted ? placeFrom(row?.last) : { block: toBlock, offset: 0 }
      looked += Math.max(1, found, (Math.min(walk.place.block, blocks) - from.block) * density)
      if (found < wanted && toBlock >= blocks) {
        walk.complete = from.block === 0 || from.block < blocks
        walk.place = START
        // Else the table ended before the place that an earlier sweep had come to.
        if (walk.complete) return
      }
      if (looked >= limit) return
      const [kept] = await database.query(statements.keep(sweeper, forMs, walk.place))
      if (!kept) return
      await sleep(pauseMs, signal)
    }
  }
}

function add(total: Walk['total'], row: Row | undefined): void {
  const swept = { removed: Number(row?.removed), expired: Number(row?.expired), abandoned: Number(row?.abandoned) }
  if (swept.removed + swept.expired + swept.abandoned === 0) return
  total.removed += swept.removed
  total.expired += swept.expired
  total.abandoned += swept.abandoned
  tell('swept', { store: 'postgres', ...swept })
}

function unsweepable(name: 'batch' | 'limit', value: number): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `A ${name} of ${value} records cannot be swept.`,
    where: 'sweep',
    why: 'The sweep would go on for ever and remove nothing.',
    fix: 'Give a whole number of records, 1 or more; without a limit all are looked at, by default in batches of 10,000.',
  })
}
