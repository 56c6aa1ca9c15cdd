/** The first byte of a record in Redis. A new state gets a new number; an old number never changes its meaning. */

export const STATE = {
  /** Running; past its lease the next caller takes over. */
  takeover: 1,
  /** Running; past its lease the outcome is unknown. */
  hold: 2,
  open: 3,
  finished: 4,
  spent: 5,
  unknown: 6,
  /** Finished, with a second end: past the first the answer is gone, past the second the record. */
  tombstoned: 7,
} as const

/**
 * How much longer than the record itself its key lives. What has ended is decided by the time in the record, on every
 * look; Redis' own expiry only clears away, late, so that a clock that leapt ahead and was set right, or a promoted
 * replica whose clock is ahead, has deleted nothing.
 */
export const CLEARED_AFTER_MS = 60_000
