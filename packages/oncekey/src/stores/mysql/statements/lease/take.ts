/** What becomes of a record that stands in nobody's way any more; the same transaction has locked and judged it. */
import type { Owned } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { bytes, micros } from '../../values.ts'
import { ABANDONED, DEDUPES_UNTIL, later } from '../ends.ts'
import { runningLabel } from './claim.ts'

export interface Taking {
  readonly fence: bigint
  /** Its record is over, and so absent: nothing of it counts. */
  readonly fresh: boolean
}

/** The first claim's `dedupes until` stays. Assigned from left to right. */
export function take({ record }: Names, wanted: Owned, { fence, fresh }: Taking): Statement {
  const { id, prints, token, policy } = wanted
  return {
    text: `update ${record}
   set expires_at  = ${fresh ? later() : `coalesce(${DEDUPES_UNTIL}, ${later()})`},
       lease_end   = ${later()},
       ${fresh ? 'fingerprint = ?,\n       ' : ''}fence       = ?,
       token       = ?,
       state       = ?,
       body        = ?
 where k = ?`,
    params: [
      micros(policy.dedupesForMs),
      micros(policy.leaseMs),
      ...(fresh ? [bytes(prints[0])] : []),
      Number(fence),
      bytes(token),
      STATE[policy.onAbandoned],
      runningLabel(wanted),
      bytes(id),
    ],
  }
}

/** With the former owner's token and fence, so that it may still end it. */
export function abandon({ record }: Names, id: string): Statement {
  return {
    text: `update ${record}
   set expires_at = ${DEDUPES_UNTIL}, lease_end = null, body = ${ABANDONED}, state = ${STATE.unknown}
 where k = ?`,
    params: [bytes(id)],
  }
}
