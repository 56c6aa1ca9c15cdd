/** How a statement of ours judges the ends of a record: by one instant of the database's clock (S4). */
import { STATE } from '../../row.ts'
import { microseconds } from './columns.ts'

const { takeover, hold, open, finished, spent, unknown } = STATE

/**
 * `t`, the instant. `durable`: where a role, a database or a session has turned synchronous_commit off, it is on again
 * for this transaction (T14), without a flight more; other settings stand.
 */
export const now = `clock_timestamp() as t,
         case when current_setting('synchronous_commit') = 'off'
              then set_config('synchronous_commit', 'on', true) end as durable`

export const clock = `clock as materialized (
  select ${now}
)`

/** A fence: the store's clock in microseconds (S3). */
export const fenceOf = microseconds

export const later = (instant: string, ms: string) => `${instant} + ${ms}::float8 * interval '1 millisecond'`

/** A finished record ends with its tombstone, where it leaves one; an open one has something else in `lease_end`. */
export const endOf = (r: string) =>
  `case ${r}.state when ${finished} then coalesce(${r}.lease_end, ${r}.expires_at) else ${r}.expires_at end`

/** Finished or open, and past its end: the record IS absent. */
export const isOver = (r: string, t = 't') =>
  `coalesce(${r}.state in (${open}, ${finished}, ${spent}) and ${endOf(r)} <= ${t}, false)`

export const isRunning = (r: string) => `${r}.state in (${takeover}, ${hold})`

/** Its owner may still end it: it is neither finished nor absent. */
export const isUnended = (r: string, t = 't') =>
  `${r}.state in (${takeover}, ${hold}, ${open}, ${unknown}) and not ${isOver(r, t)}`

/** Until when the downstream deduplicates: it stands in `lease_end` while open, else in `expires_at`. */
export const dedupesUntil = (r: string) => `case ${r}.state when ${open} then ${r}.lease_end else ${r}.expires_at end`

export const dedupesOver = (r: string, t = 't') =>
  `coalesce(${r}.state in (${takeover}, ${open}) and ${dedupesUntil(r)} <= ${t}, false)`

/** An answer past its retention, of which a tombstone stays. */
export const isExpired = (r: string, t = 't') =>
  `(${r}.state = ${finished} and ${r}.expires_at <= ${t} and ${r}.lease_end > ${t})`

/** Why a record that is not finished stands as it does. Its label is a JSON object: of two members with one name the last one counts. */
export const labelled = (r: string, why: 'its owner vanished' | 'the store was restored') =>
  `substring(${r}.body from 1 for length(${r}.body) - 1) || convert_to(',"why":"${why}"}', 'utf8')`
