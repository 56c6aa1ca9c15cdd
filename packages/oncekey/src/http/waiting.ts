/** How long a duplicate waits instead of being told to come back, and how many may do so at once. */

/** Waiters of one key: more of them than a client has retries under way means somebody hammers. */
const PER_KEY = 16
/** Waiters of one process; each is a timer and an attempt now and then, no connection. */
const PER_PROCESS = 1_024

const waiters = new Map<string, number>()
let all = 0

/** Seconds of `Prefer: wait=N` (RFC 7240 §4.3) in ms, 0 where there are none. */
export function preferredWaitMs(prefer: string | undefined): number {
  const seconds = prefer && /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?(?=$|[,;\s])/i.exec(prefer)?.[1]
  return seconds ? Number(seconds) * 1_000 : 0
}

/** A place to wait in, given back by calling what is returned; nothing where all are taken. */
export function takePlace(key: string): (() => void) | undefined {
  const mine = waiters.get(key) ?? 0
  if (mine >= PER_KEY || all >= PER_PROCESS) return undefined
  waiters.set(key, mine + 1)
  all++
  let given = false
  return function giveBack() {
    if (given) return
    given = true
    all--
    const left = (waiters.get(key) ?? 1) - 1
    if (left === 0) waiters.delete(key)
    else waiters.set(key, left)
  }
}
