/** Writes the record of an operation into the row that this transaction has held since its opening. */
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import type { Write } from '../../transactional/dialect.ts'
import type { Names } from '../names.ts'
import { bytes, micros } from '../values.ts'
import { later } from './ends.ts'

/**
 * Nothing is compared: nobody else could write the row since it was judged, and that it is still the same transaction
 * has been proven by the savepoint just before. The retention counts from now, the finish (S5). MySQL assigns from left to right, so
 * what is read of the old row is read first. What the downstream deduplicates until is carried over into `unknown`.
 */
export function written({ record }: Names, write: Write): Statement {
  const { id, print, state, body, keepMs, tombstoneMs, carries } = write
  const first = `case state when ${STATE.open} then lease_end when ${STATE.takeover} then expires_at when ${STATE.hold} then expires_at end`
  return {
    text: `update ${record}
   set expires_at  = ${carries ? `coalesce(${first}, ${later()})` : later()},
       lease_end   = ${later()},
       fingerprint = ?,
       fence       = null,
       token       = null,
       state       = ?,
       body        = ?
 where k = ?`,
    params: [micros(keepMs), sum(keepMs, tombstoneMs), bytes(print), state, body, bytes(id)],
  }
}

function sum(keepMs: number | null, tombstoneMs: number | null): number | null {
  return keepMs === null || tombstoneMs === null ? null : micros(keepMs + tombstoneMs)
}
