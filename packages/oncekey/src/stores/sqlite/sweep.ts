/** Sweeps a file in small steps, one sweep at a time: every other write of the process and of its neighbours comes in between. */
import { monotonic, sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { Admin, Swept } from '../../core/store.ts'
import type { SqliteFile } from './file.ts'
import { bytes } from './sql.ts'
import { abandonAll, leaveTombstones, remove, survey } from './statements/sweep.ts'
import { beginSweep, endSweep, keepSweep } from './statements/sweep-claim.ts'

/** Removing so many takes a few ms, and for that long the event loop stands still. */
const BATCH = 2_000
/** A sweeper that died is waited for as long as this; one that lives renews its claim. */
const CLAIM_MS = 60_000
const START = new Uint8Array()

type Counts = { removed: number; expired: number; abandoned: number }

export function sweeps<Tx>(file: SqliteFile<Tx>, mode: 'transaction' | 'lease'): Admin['sweep'] {
  const { record, meta } = file.tables
  const look = survey(record)
  const removeIn = remove(record)
  const expireIn = leaveTombstones(record)
  const abandonIn = abandonAll(record)
  const [begin, keep, end] = [beginSweep(meta), keepSweep(meta), endSweep(meta)]

  return async function sweep({ batch = BATCH, pauseMs = 20, limit = Number.POSITIVE_INFINITY, signal } = {}) {
    if (!Number.isSafeInteger(batch) || batch < 1) throw unsweepable('batch', batch)
    if (!(limit >= 1)) throw unsweepable('limit', limit)
    await file.check()
    const total: Counts = { removed: 0, expired: 0, abandoned: 0 }
    const sweeper = { token: bytes(randomHex(16)), claimMs: CLAIM_MS + pauseMs }
    const begun = await file.write(async function claim(writer) {
      const row = writer.get(begin(sweeper.token, sweeper.claimMs))
      if (row) await writer.commit()
      return row
    })
    if (!begun) return { ...total, complete: false, elsewhere: true } satisfies Swept
    let place = (begun.sweep_place as Uint8Array | null) ?? START
    let keptAt = monotonic()
    let complete = false
    try {
      for (let looked = 0; looked < limit && !signal?.aborted; ) {
        const wanted = Math.min(batch, Math.ceil(limit - looked))
        const found = await file.read(look(place, wanted))
        const last = (found?.last as Uint8Array | null) ?? place
        if (found?.due || monotonic() - keptAt > CLAIM_MS / 3) {
          const swept = await range({ after: place, last }, sweeper)
          if (!swept) break
          keptAt = monotonic()
          add(total, swept)
        }
        place = last
        looked += Number(found?.looked)
        complete = Number(found?.looked) < wanted
        if (complete || looked >= limit) break
        await sleep(found?.due ? pauseMs : 0, signal)
      }
    } finally {
      // Where this fails, the claim ends by itself.
      await file
        .write(async function give(writer) {
          writer.run(end(sweeper.token, complete || place.length === 0 ? null : place))
          await writer.commit()
        })
        .catch(() => {})
    }
    return { ...total, complete }
  }

  /** Nothing where somebody else has taken over. */
  function range(
    { after, last }: { readonly after: Uint8Array; readonly last: Uint8Array },
    { token, claimMs }: { readonly token: Uint8Array; readonly claimMs: number },
  ): Promise<Counts | undefined> {
    return file.write(async function sweepRange(writer) {
      if (writer.run(keep(token, claimMs, last)) === 0) return undefined
      const removed = writer.run(removeIn(after, last))
      const expired = writer.run(expireIn(after, last))
      const abandoned = writer.run(abandonIn(after, last))
      await writer.commit()
      return { removed, expired, abandoned }
    })
  }

  function add(total: Counts, swept: Counts): void {
    total.removed += swept.removed
    total.expired += swept.expired
    total.abandoned += swept.abandoned
    if (swept.removed + swept.expired + swept.abandoned > 0) tell('swept', { store: 'sqlite', mode, ...swept })
  }
}

function unsweepable(name: 'batch' | 'limit', value: number): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `A ${name} of ${value} records cannot be swept.`,
    where: 'sweep',
    why: 'The sweep would go on for ever and remove nothing.',
    fix: 'Give a whole number of records, 1 or more; without a limit all are looked at, by default in batches of 2,000.',
  })
}
