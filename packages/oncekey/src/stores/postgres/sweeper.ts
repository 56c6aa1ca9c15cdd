/** Sweeps the table from its beginning to its end, in bounded statements with rests between them. */
import { sleep } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { Admin } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import type { Names } from './names.ts'
import { type Place, sweep } from './statements/admin/sweep.ts'

/** Small batches walk over each other's dead rows (1,000 at a time: 82,000 rows/s), large ones are felt by traffic (50,000: p99 × 3). */
const BATCH = 10_000
const PAUSE_MS = 20
/** 32 MB: a statement over rows that all stay reads it in some tens of milliseconds. */
const BLOCKS = 4_096

export interface SweeperOptions {
  readonly names: Names
  check(): Promise<void>
}

export function createSweeper<Tx>(database: Database<Tx>, { names, check }: SweeperOptions): Admin['sweep'] {
  const statement = sweep(names)

  return async function sweepAll({ batch = BATCH, pauseMs = PAUSE_MS, signal } = {}) {
    if (!Number.isSafeInteger(batch) || batch < 1) throw noBatch(batch)
    await check()
    let removed = 0
    let abandoned = 0
    let from: Place = { block: 0, offset: 0 }
    let stretchEnd = BLOCKS
    while (!signal?.aborted) {
      const [row] = await database.query(statement({ from, toBlock: stretchEnd, batch }))
      const swept = { removed: Number(row?.removed), abandoned: Number(row?.abandoned) }
      removed += swept.removed
      abandoned += swept.abandoned
      if (swept.removed + swept.abandoned > 0) tell('swept', { store: 'postgres', ...swept })
      if (Number(row?.found) === batch) from = placeOf(row?.last)
      else {
        if (stretchEnd >= Number(row?.blocks)) break
        from = { block: stretchEnd, offset: 0 }
        stretchEnd += BLOCKS
      }
      await sleep(pauseMs, signal)
    }
    return { removed, abandoned }
  }
}

/** `(block,offset)`, as the database writes it. */
function placeOf(place: unknown): Place {
  const [block = 0, offset = 0] = String(place).replace(/[()]/g, '').split(',').map(Number)
  return { block, offset }
}

function noBatch(batch: number): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `A batch of ${batch} records cannot be swept.`,
    where: 'sweep',
    why: 'The sweep would go on for ever and remove nothing.',
    fix: 'Give a whole number of records, 1 or more; 10,000 is the default.',
  })
}
