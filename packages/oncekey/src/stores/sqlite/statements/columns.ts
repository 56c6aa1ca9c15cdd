/** What our statements select of a record, and how they judge its ends: by the file's clock, in the statement that acts on them (S4). */
import { STATE } from '../../row.ts'

const { takeover, hold, open, finished, spent, unknown } = STATE

/** Milliseconds since 1970; it stands still within one statement. */
export const NOW = `cast(round(unixepoch('subsec') * 1000) as integer)`

/** A finished record ends with its tombstone, where it leaves one; an open one has something else in `lease_end`. */
export const END = `case state when ${finished} then coalesce(lease_end, expires_at) else expires_at end`

/** Finished or open, and past its end: the record IS absent. */
export const IS_OVER = `(state in (${open}, ${finished}, ${spent}) and ${END} <= ${NOW})`

/** An answer past its retention, of which a tombstone stays. */
export const IS_EXPIRED = `(state = ${finished} and expires_at <= ${NOW} and lease_end > ${NOW})`

/** Why a record that is not finished stands as it does. Its label is a JSON object: of two members with one name the last one counts. */
export function labelled(why: 'its owner vanished' | 'the store was restored'): string {
  return `cast(substr(cast(body as text), 1, length(cast(body as text)) - 1) || ',"why":"${why}"}' as blob)`
}

/** Until when the downstream deduplicates: it stands in `lease_end` while open, else in `expires_at`. */
export const DEDUPES_UNTIL = `case state when ${open} then lease_end else expires_at end`

/** Still the caller's own, to be ended; a lease that ran out refuses nothing by itself. ?1 to ?3: see `mineOf`. Transaction mode has no fence. */
export const IS_MINE = `k = ?1 and token = ?2 and fence is ?3 and state in (${takeover}, ${hold}, ${open}, ${unknown})
     and not ${IS_OVER}`

/** Beyond it a library would round, or refuse to read; nobody waits until 2255. */
const LAST_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1_000)

/** What a finished record shows as its end: the answer's while it has one, then the tombstone's. */
export const SHOWN_END = `min(case when ${IS_EXPIRED} then lease_end else expires_at end, ${LAST_MS})`

/** The columns of `RecordRow`, in its microseconds. */
export const COLUMNS = `
         k, fingerprint, state, token, fence, body,
         min(expires_at, ${LAST_MS}) * 1000 as expires_us,
         min(lease_end, ${LAST_MS}) * 1000 as lease_end_us,
         ${NOW} * 1000 as now_us`
