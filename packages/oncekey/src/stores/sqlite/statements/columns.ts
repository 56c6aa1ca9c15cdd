/** What our statements select of a record, and how they judge its ends: by the file's clock, in the statement that acts on them (S4). */
import { STATE } from '../../row.ts'

const { takeover, hold, open, finished, spent, unknown } = STATE

/** Milliseconds since 1970; it stands still within one statement. */
export const NOW = `cast(round(unixepoch('subsec') * 1000) as integer)`

/** A finished record ends with its tombstone, where it leaves one; an open one has something else in `lease_end`. */
export const END = `case state when ${finished} then coalesce(lease_end, expires_at) else expires_at end`

/** Finished or open, and past its end: the record IS absent. */
export const IS_OVER = `(state in (${open}, ${finished}, ${spent}) and ${END} <= ${NOW})`

/** Until when the downstream deduplicates: it stands in `lease_end` while open, else in `expires_at`. */
export const DEDUPES_UNTIL = `case state when ${open} then lease_end else expires_at end`

/** Still the caller's own, to be ended; a lease that ran out refuses nothing by itself. ?1 to ?3: see `mineOf`. Transaction mode has no fence. */
export const IS_MINE = `k = ?1 and token = ?2 and fence is ?3 and state in (${takeover}, ${hold}, ${open}, ${unknown})
     and not ${IS_OVER}`

/** Beyond it a library would round, or refuse to read; nobody waits until 2255. */
const LAST_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1_000)

/** The columns of `RecordRow`, in its microseconds. */
export const COLUMNS = `
         k, fingerprint, state, token, fence, body,
         min(expires_at, ${LAST_MS}) * 1000 as expires_us,
         min(lease_end, ${LAST_MS}) * 1000 as lease_end_us,
         ${NOW} * 1000 as now_us`
