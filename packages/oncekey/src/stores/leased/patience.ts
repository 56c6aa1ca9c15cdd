/** Waiting for a store, but never for ever: one promise within a limit, and one step sent again until it is answered. */
import { monotonic, sleep } from '../../core/clock.ts'
import { type Pulse, whenSilent } from '../pulse.ts'

export const TOO_LATE: unique symbol = Symbol('too late')

/** What the promise gives within `ms`, else `TOO_LATE`; a rejection after that is nobody's business any more. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | typeof TOO_LATE> {
  const limit = new AbortController()
  promise.catch(() => undefined)
  try {
    const late = sleep(Math.max(0, ms), limit.signal).then((): typeof TOO_LATE => TOO_LATE)
    return await Promise.race([promise, late])
  } finally {
    // Without a reason it would make an error, with its stack, for nobody: a third of what an operation in memory costs.
    limit.abort(null)
  }
}

/** What the promise gives, else `TOO_LATE` when the store has said nothing to anybody for `ms`. */
export function whileHeard<T>(promise: Promise<T>, ms: number, pulse: Pulse): Promise<T | typeof TOO_LATE> {
  return new Promise((resolve, reject) => {
    const callOff = whenSilent(pulse, ms, () => resolve(TOO_LATE))
    promise.finally(callOff).then(resolve, reject)
  })
}

export interface Insisting {
  /** On the monotonic clock. */
  readonly until: number
  /** How long one send is waited for before the next is made. */
  readonly patienceMs: number
  readonly missed: (error: unknown) => void
}

/** Sends until the store answers. Every step of a lease is a compare-and-set, so a second send that meets the first does no harm. */
export async function insist<T>(
  send: () => Promise<T>,
  { until, patienceMs, missed }: Insisting,
): Promise<T | typeof TOO_LATE> {
  for (let pause = 25; ; pause = Math.min(pause * 2, 1_000)) {
    const left = until - monotonic()
    if (left <= 0) return TOO_LATE
    try {
      const answer = await within(send(), Math.min(left, patienceMs))
      if (answer !== TOO_LATE) return answer
      missed(new Error(`no answer within ${patienceMs} ms`))
    } catch (error) {
      missed(error)
    }
    await sleep(Math.min(pause, Math.max(0, until - monotonic())))
  }
}
