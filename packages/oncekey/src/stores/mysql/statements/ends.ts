/** How a statement of ours judges the ends of a record: by one instant of the server's clock (S4). */
import { STATE } from '../../row.ts'
import { NOW } from './columns.ts'

const { takeover, hold, open, finished, spent, unknown } = STATE

/** That many microseconds from now; null where the parameter is. */
export const later = (us = '?') => `${NOW} + ${us}`

/** A finished record ends with its tombstone, where it leaves one; an open one has something else in `lease_end`. */
export const END = `if(state = ${finished}, coalesce(lease_end, expires_at), expires_at)`

/** Finished or open, and past its end: the record IS absent. */
export const IS_OVER = `coalesce(state in (${open}, ${finished}, ${spent}) and ${END} <= ${NOW}, false)`

export const IS_RUNNING = `state in (${takeover}, ${hold})`

/** Its owner may still end it: it is neither finished nor absent. */
export const IS_UNENDED = `(state in (${takeover}, ${hold}, ${open}, ${unknown}) and not ${IS_OVER})`

/** Until when the downstream deduplicates: it stands in `lease_end` while open, else in `expires_at`. */
export const DEDUPES_UNTIL = `if(state = ${open}, lease_end, expires_at)`

export const DEDUPES_OVER = `coalesce(state in (${takeover}, ${open}) and ${DEDUPES_UNTIL} <= ${NOW}, false)`

/** The label with another reason. It is a JSON object: of two members with one name the last one counts. */
export const labelled = (why: string) =>
  `concat(substring(body, 1, length(body) - 1), x'${Buffer.from(`,"why":"${why}"}`).toString('hex')}')`

export const ABANDONED = labelled('its owner vanished')
