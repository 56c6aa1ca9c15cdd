/** Sweeps the table from its beginning to its end, one sweep at a time, in bounded statements with rests between them. */
import { sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { Admin, Swept } from '../../core/store.ts'
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
/** A sweeper that died is waited for as long as this; one that lives renews its claim with every batch. */
const CLAIM_MS = 60_000
/** Where nobody has analyzed the table yet: 8 kB by the 160 bytes that a record takes. */
const RECORDS_PER_BLOCK = 50

export interface SweeperOptions {
  readonly names: Names
  check(): Promise<void>
}

export function createSweeper<Tx>(database: Database<Tx>, { names, check }: SweeperOptions): Admin['sweep'] {
  const statements = { begin: beginSweep(names), keep: keepSweep(names), end: endSweep(names), sweep: sweep(names) }

  return async function sweepOn({ batch = BATCH, pauseMs = PAUSE_MS, limit = Number.POSITIVE_INFINITY, signal } = {}) {
    if (!Number.isSafeInteger(batch) || batch < 1) throw unsweepable('batch', batch)
    if (!(limit >= 1)) throw unsweepable('limit', limit)
    await check()
    const total = { removed: 0, expired: 0, abandoned: 0 }
    const sweeper = randomHex(16)
    const claimMs = CLAIM_MS + pauseMs
    const begun = await begin()
    if (!begun) return { ...total, complete: false, elsewhere: true } satisfies Swept
    const density = Number(begun.density ?? RECORDS_PER_BLOCK)
    let place = placeFrom(begun.sweep_place)
    let complete = false
    try {
      for (let looked = 0; looked < limit && !signal?.aborted; ) {
        if (looked > 0) {
          const [kept] = await database.query(statements.keep(sweeper, claimMs, place))
          if (!kept) break
          await sleep(pauseMs, signal)
          if (signal?.aborted) break
        }
        const stretch = Math.max(1, Math.min(BLOCKS, Math.ceil((limit - looked) / density)))
        const asked = { from: place, toBlock: place.block + stretch, batch: Math.min(batch, Math.ceil(limit - looked)) }
        const [row] = await database.query(statements.sweep(asked))
        add(total, row)
        const found = Number(row?.found)
        const blocks = Number(row?.blocks)
        // The table has become shorter than the last sweep found it.
        if (looked === 0 && place.block > 0 && place.block >= blocks) {
          place = START
          continue
        }
        const more = found === asked.batch
        const next: Place = more ? placeFrom(row?.last) : { block: asked.toBlock, offset: 0 }
        looked += Math.max(1, found, (Math.min(next.block, blocks) - place.block) * density)
        place = next
        if (!more && asked.toBlock >= blocks) {
          complete = true
          break
        }
      }
    } finally {
      // Where this fails, the claim ends by itself.
      await database.query(statements.end(sweeper, complete ? undefined : place)).catch(() => {})
    }
    return { ...total, complete }

    async function begin(): Promise<Row | undefined> {
      const { row } = await untilDecided('', async function claim() {
        const [row] = await database.query(statements.begin(sweeper, claimMs))
        return { row }
      })
      return row
    }
  }
}

function add(total: { removed: number; expired: number; abandoned: number }, row: Row | undefined): void {
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
