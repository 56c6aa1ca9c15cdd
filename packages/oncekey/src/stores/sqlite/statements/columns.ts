/** What our statements select of a record, and how they judge its ends: by the file's clock, in the statement that acts on them (S4). */
import { STATE } from '../../row.ts'

const { takeover, hold, open, finished, spent, unknown } = STATE

/** Milliseconds since 1970; it stands still within one statement. */
export const NOW = `cast(round(unixepoch('subsec') * 1000) as integer)`

/** Finished or open, and past its end: the record IS absent. */
export const IS_OVER = `(state in (${open}, ${finished}, ${spent}) and expires_at <= ${NOW})`

/** Until when the downstream deduplicates: it stands in `lease_end` while open, else in `expires_at`. */
export const DEDUPES_UNTIL = `case state when ${open} then lease_end else expires_at end`

/** Still the caller's own, to be ended; a lease that ran out refuses nothing by itself. ?1 to ?3: see `mineOf`. Transaction mode has no fence. */
export const IS_MINE = `k = ?1 and token = ?2 and fence is ?3 and state in (${takeover}, ${hold}, ${open}, ${unknown})
     and not ${IS_OVER}`

/** The columns of `RecordRow`. */
export const COLUMNS = `
         k, fingerprint, state, token, fence, body,
         expires_at as expires_ms,
         lease_end as lease_end_ms,
         ${IS_OVER} as over,
         state in (${takeover}, ${open}) and ${DEDUPES_UNTIL} <= ${NOW} as dedupes_over,
         lease_end - ${NOW} as lease_left_ms,
         ${NOW} - fence / 1000 as age_ms`
