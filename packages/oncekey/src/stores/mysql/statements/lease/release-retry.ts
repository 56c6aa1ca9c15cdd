/** Leaves an operation open: the next attempt may run. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { micros } from '../../values.ts'
import { DEDUPES_UNTIL, later } from '../ends.ts'
import { IS_MINE, mineOf } from './mine.ts'

/**
 * It is remembered for the retention, and never for less than the downstream remembers it: past that it could run twice
 * unseen. Assigned from left to right.
 */
export function releaseRetry({ record }: Names, mine: Held): Statement {
  return {
    text: `update ${record}
   set lease_end  = ${DEDUPES_UNTIL},
       expires_at = greatest(${later()}, coalesce(lease_end, 0)),
       body       = ?,
       state      = ${STATE.open}
 where ${IS_MINE} and state <> ${STATE.open}`,
    params: [micros(mine.policy.retainMs), writeLabel(mine.label), ...mineOf(mine)],
  }
}
