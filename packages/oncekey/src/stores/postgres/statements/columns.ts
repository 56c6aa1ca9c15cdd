/** What our statements select of a record, and how they judge its ends: by the database's clock, in the statement that acts on them (S4). */
import { STATE } from '../../row.ts'

const { takeover, hold, open, finished, spent, unknown } = STATE

/**
 * `t`, the one instant that a statement judges by. `durable`: where a role, a database or a session has turned
 * synchronous_commit off, it is on again for this transaction (T14), without a flight more; other settings stand.
 */
export const clock = `clock as materialized (
  select clock_timestamp() as t,
         case when current_setting('synchronous_commit') = 'off'
              then set_config('synchronous_commit', 'on', true) end as durable
)`

/** A fence: the store's clock in microseconds (S3). */
export const fenceOf = (instant: string) => `(extract(epoch from ${instant}) * 1000000)::bigint`

export const later = (instant: string, ms: string) => `${instant} + ${ms}::float8 * interval '1 millisecond'`

/** Finished or open, and past its end: the record IS absent. */
export const isOver = (r: string, t = 't') =>
  `(${r}.state in (${open}, ${finished}, ${spent}) and ${r}.expires_at <= ${t})`

export const isRunning = (r: string) => `${r}.state in (${takeover}, ${hold})`

/** A claim that its owner may still end: everything but finished. */
export const isUnended = (r: string) => `${r}.state in (${takeover}, ${hold}, ${open}, ${unknown})`

/** Until when the downstream deduplicates: it stands in `lease_end` while open, else in `expires_at`. */
export const dedupesUntil = (r: string) => `case ${r}.state when ${open} then ${r}.lease_end else ${r}.expires_at end`

export const dedupesOver = (r: string, t = 't') =>
  `coalesce(${r}.state in (${takeover}, ${open}) and ${dedupesUntil(r)} <= ${t}, false)`

/** `why` goes into the label, which is a JSON object: of two members with one name the last one counts. */
export const because = (body: string, why: 'abandoned' | 'dedupes-over') =>
  `substring(${body} from 1 for length(${body}) - 1) || convert_to(',"why":"${why}"}', 'utf8')`

/** The columns of `RecordRow`. */
export const columns = (r: string, t = 't') => `
       ${r}.k, ${r}.fingerprint, ${r}.state, ${r}.token, ${r}.fence::text as fence, ${r}.body,
       (extract(epoch from ${r}.expires_at) * 1000)::float8 as expires_ms,
       (extract(epoch from ${r}.lease_end) * 1000)::float8 as lease_end_ms,
       coalesce(${isOver(r, t)}, false) as over,
       ${dedupesOver(r, t)} as dedupes_over,
       (extract(epoch from ${r}.lease_end - ${t}) * 1000)::float8 as lease_left_ms,
       ((${fenceOf(t)} - ${r}.fence) / 1000.0)::float8 as age_ms`
