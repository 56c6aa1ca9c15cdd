/** Tells a store that hangs from one that is only busy: a claim is given up when nobody has heard from the store for a while. */
import { monotonic } from '../core/clock.ts'

/** When the store last answered anybody in this process. */
export interface Pulse {
  beat(): void
  lastAt(): number
}

export function pulse(): Pulse {
  let last = Number.NEGATIVE_INFINITY
  return {
    beat() {
      last = monotonic()
    },
    lastAt: () => last,
  }
}

/** A store that answers others and not this claim is given up all the same, after so many times the silence. */
const BUSY_TIMES = 5
/** How often the silence is looked at: so many times until it is too long. */
const SLICES = 10

/**
 * Calls `giveUp` when the store has been silent for `silentMs`, counted from now or from its last answer: a hundred
 * claims at once through a small pool are served one after another, and each answer shows that the store is there.
 * Time in which this process did not run does not count: it heard nothing because it did not listen.
 * Returns what calls it off.
 */
export function whenSilent({ lastAt }: Pulse, silentMs: number, giveUp: () => void): () => void {
  const slice = silentMs / SLICES
  const started = monotonic()
  let heardAt = started
  let lookedAt = started
  let silent = 0
  let off = false
  let timer = setTimeout(look, slice)

  function look(): void {
    // Timers come before sockets: after a blocked loop the answer may lie there, unread. It is read before this runs.
    setImmediate(decide)
  }
  function decide(): void {
    if (off) return
    const now = monotonic()
    if (lastAt() > heardAt) {
      heardAt = lastAt()
      lookedAt = Math.max(lookedAt, heardAt)
      silent = 0
    }
    silent += Math.min(now - lookedAt, 2 * slice)
    lookedAt = now
    if (silent >= silentMs || now - started >= BUSY_TIMES * silentMs) giveUp()
    else timer = setTimeout(look, Math.min(slice, silentMs - silent))
  }
  return () => {
    off = true
    clearTimeout(timer)
  }
}
