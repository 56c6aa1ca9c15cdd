/** The time of a service that has no clock to ask: the caller's own, held within what the service's `Date` headers allow (S4). */
import { monotonic } from '../../core/clock.ts'

export interface ServiceClock {
  /** Milliseconds since 1970. */
  now(): number
  /** A response with this header came back; both instants are on the monotonic clock. */
  heard(date: string | undefined, sentAt: number, receivedAt: number): void
}

/** A `Date` header has whole seconds: what it says may have been true up to this long ago. */
const HEADER_MS = 1_000
/** Crystals drift by less than 200 ppm; what was learned so long ago says nothing exact any more. */
const DRIFT = 0.000_2

/**
 * Each response was made between its request and its receipt, and so bounds by how much the service's time is ahead of
 * the monotonic clock; many of them bound it closely. The wall clock counts only within these bounds: a machine that
 * is hours off, or that is set while it runs, tells the service's time all the same.
 */
export function serviceClock(wall: () => number = Date.now, steady: () => number = monotonic): ServiceClock {
  let lowest = Number.NEGATIVE_INFINITY
  let highest = Number.POSITIVE_INFINITY
  let learnedAt = steady()

  return {
    now() {
      const at = steady()
      return Math.min(Math.max(wall(), at + lowest), at + highest)
    },
    heard(date, sentAt, receivedAt) {
      const told = date === undefined ? Number.NaN : Date.parse(date)
      if (Number.isNaN(told)) return
      const drifted = (receivedAt - learnedAt) * DRIFT
      learnedAt = receivedAt
      const [low, high] = [told - receivedAt, told + HEADER_MS - sentAt]
      lowest = Math.max(lowest - drifted, low)
      highest = Math.min(highest + drifted, high)
      // The service's clock was set, or another host of it goes by another one: only the newest counts.
      if (lowest > highest) [lowest, highest] = [low, high]
    },
  }
}
