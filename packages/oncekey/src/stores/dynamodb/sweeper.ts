/** Sweeps the table page by page: one runner at a time, with rests, going on where the last one stopped. */
import { sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { readLabel } from '../../core/label.ts'
import type { Admin, Swept } from '../../core/store.ts'
import { readKept } from '../kept.ts'
import { STATE } from '../row.ts'
import { expired, mayDelete, opened, unknown } from './changes.ts'
import { asSeen, type Change, type Condition, number, text, update } from './expressions.ts'
import { isExpired, isOver, isPast, isRunning, type Stored } from './item.ts'
import { META, type Meta } from './meta.ts'
import { refusedBy } from './refusals.ts'
import { page } from './scan.ts'
import { change, type Ground, remove } from './table.ts'

/** A page is read in some tens of milliseconds, and felt by nobody. */
const BATCH = 1_000
const PAUSE_MS = 20
/** A sweeper that has said nothing for so long is gone, and another may go on. */
const SWEEPER_MS = 60_000
/** Writes at a time: what it tidies up must not take the table's capacity from requests. */
const AT_ONCE = 8

type Done = 'removed' | 'expired' | 'abandoned'

export function createSweeper(ground: Ground, meta: Meta): Admin['sweep'] {
  return async function sweep({ batch = BATCH, pauseMs = PAUSE_MS, limit = Number.POSITIVE_INFINITY, signal } = {}) {
    if (!Number.isSafeInteger(batch) || batch < 1) throw noBatch(batch)
    await meta.again()
    const total = { removed: 0, expired: 0, abandoned: 0 }
    const turn = await takeTurn(ground)
    if (!turn) return { ...total, complete: false, elsewhere: true }
    let { place } = turn
    try {
      for (let looked = 0; looked < limit && !signal?.aborted; ) {
        const wanted = { limit: Math.min(batch, limit - looked), ...(place === undefined ? {} : { after: place }) }
        const found = await page(ground, wanted)
        const swept = await tidy(ground, found.records)
        looked += Math.max(1, found.looked)
        for (const done of ['removed', 'expired', 'abandoned'] as const) total[done] += swept[done]
        if (swept.removed + swept.expired + swept.abandoned > 0)
          tell('swept', { store: 'dynamodb', mode: 'lease', ...swept })
        place = found.next
        if (!(await turn.keep(place))) return { ...total, complete: false }
        if (place === undefined) return { ...total, complete: true }
        await sleep(pauseMs, signal)
      }
      return { ...total, complete: false }
    } finally {
      await turn.end()
    }
  }
}

interface Turn {
  readonly place?: string | undefined
  /** Says where it is, and that it still is there; false where another has gone on meanwhile. */
  keep(place: string | undefined): Promise<boolean>
  end(): Promise<void>
}

async function takeTurn(ground: Ground): Promise<Turn | undefined> {
  const sweeper = text(randomHex(16))
  const mine: Condition = { text: '#sweeper = :sweeper', values: { ':sweeper': sweeper } }

  async function write(to: Change, condition = mine): Promise<string | undefined | false> {
    try {
      const written = await ground.call('UpdateItem', {
        ...update(ground.table, META, to, condition),
        ReturnValues: 'ALL_NEW',
      })
      return written.Attributes?.sweep_place?.S
    } catch (error) {
      if (refusedBy(error)) return false
      throw error
    }
  }
  const until = () => ({ sweeper, sweeper_until: number(ground.at().now + SWEEPER_MS) })

  const { now, skewMs } = ground.at()
  const place = await write(
    { set: until() },
    {
      text: 'attribute_exists(#k) AND (attribute_not_exists(#sweeper) OR #sweeper = :sweeper OR #sweeper_until < :past)',
      values: { ':sweeper': sweeper, ':past': number(now - skewMs) },
    },
  )
  if (place === false) return undefined
  return {
    place,
    async keep(next) {
      const at = next === undefined ? {} : { sweep_place: text(next) }
      return (await write({ set: { ...until(), ...at }, remove: ['sweep_place'] })) !== false
    },
    async end() {
      await write({ set: {}, remove: ['sweeper', 'sweeper_until'] })
    },
  }
}

async function tidy(ground: Ground, records: readonly Stored[]): Promise<Omit<Swept, 'complete'>> {
  const counts = { removed: 0, expired: 0, abandoned: 0 }
  const left = records[Symbol.iterator]()
  async function worker(): Promise<void> {
    for (const stored of left) {
      const done = await tidyOne(ground, stored)
      if (done) counts[done]++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return counts
}

/** Each write repeats what was seen: whatever changed meanwhile stays as it is. */
async function tidyOne(ground: Ground, stored: Stored): Promise<Done | undefined> {
  const instant = ground.at()
  const { id, state, body, fence, leaseEnds = 0, retainMs = 0, dedupesUntil } = stored
  const to = (next: Change) => change(ground, id, next, asSeen(stored))
  if (isOver(stored, instant)) {
    if (!mayDelete(fence, instant)) return undefined
    return (await remove(ground, id, asSeen(stored))) === 'done' ? 'removed' : undefined
  }
  if (isExpired(stored, instant)) {
    const { tombstone = new Uint8Array() } = readKept(body ?? new Uint8Array())
    return (await to(expired(stored, tombstone, instant))) === 'done' ? 'expired' : undefined
  }
  if (!isRunning(stored) || !isPast(leaseEnds, instant)) return undefined
  const next =
    state === STATE.takeover ? opened(retainMs, dedupesUntil, instant) : unknown(readLabel(body), 'its owner vanished')
  return (await to(next)) === 'done' ? 'abandoned' : undefined
}

function noBatch(batch: number): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `A batch of ${batch} records cannot be swept.`,
    where: 'sweep',
    why: 'The sweep would go on for ever and remove nothing.',
    fix: `Give a whole number of records, 1 or more; ${BATCH} is the default.`,
  })
}
