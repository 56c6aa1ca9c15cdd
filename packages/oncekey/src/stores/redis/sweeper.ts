/** The sweep: one runner at a time, in bounded steps with rests between them, from where the last one stopped. */
import { sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { tell } from '../../core/events.ts'
import type { SweepOptions, Swept } from '../../core/store.ts'
import type { Connection } from './connection.ts'
import type { Parts } from './driver.ts'
import { type Page, pageAt, readPlace, writePlace } from './scan.ts'
import { isDone, word } from './word.ts'

/** A sweeper that is gone makes way after this long. */
const SWEEPER_LEASE_MS = 60_000
/** Scripts on their way at once; the server serves other commands between any two of them. */
const AT_ONCE = 250

export interface SweeperParts extends Pick<Parts, 'send' | 'keys' | 'scripts'> {
  readonly connection: Connection
  /** Refuses another epoch, and learns of restores. */
  readonly check: () => Promise<void>
}
interface Counts {
  removed: number
  expired: number
  abandoned: number
}

export function sweeper({ connection, send, keys, scripts, check }: SweeperParts) {
  async function swept(ids: readonly string[]): Promise<Counts> {
    const counts: Counts = { removed: 0, expired: 0, abandoned: 0 }
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE)
      const answers = await Promise.all(some.map((id) => send(scripts.sweep, keys.record(id))))
      for (const [answer] of answers) {
        const what = word(answer)
        if (what === 'removed' || what === 'expired' || what === 'abandoned') counts[what]++
      }
    }
    return counts
  }

  return async function sweep(options: SweepOptions = {}): Promise<Swept> {
    const { batch = 10_000, pauseMs = 20, limit = Number.POSITIVE_INFINITY, signal } = options
    await check()
    const me = randomHex(8)
    const lease = String(SWEEPER_LEASE_MS)
    const entered = await send(scripts.sweeperEnters, keys.meta, [me, lease])
    const total = { removed: 0, expired: 0, abandoned: 0 }
    if (!isDone(entered)) return { ...total, complete: false, elsewhere: true }
    let place = readPlace(word(entered[1]))
    let complete = false
    try {
      for (let looked = 0; looked < limit && !signal?.aborted; ) {
        const page: Page = await pageAt(connection, keys, place, Math.min(batch, limit - looked))
        const counts = await swept(page.ids)
        looked += page.ids.length
        for (const kind of ['removed', 'expired', 'abandoned'] as const) total[kind] += counts[kind]
        tell('swept', { store: 'redis', mode: 'lease', ...counts })
        place = page.next
        complete = place === undefined
        const goesOn = isDone(await send(scripts.sweeperGoesOn, keys.meta, [me, lease, writePlace(place)]))
        if (complete || !goesOn) break
        await sleep(pauseMs, signal)
      }
      return { ...total, complete }
    } finally {
      await send(scripts.sweeperLeaves, keys.meta, [me])
    }
  }
}
