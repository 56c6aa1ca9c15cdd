/** A beat: the claim runs for another lease. */
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { micros } from '../../values.ts'
import { DEDUPES_UNTIL, later } from '../ends.ts'
import { runningLabel } from './claim.ts'
import { IS_MINE, mineOf } from './mine.ts'

/** A sweeper or another caller may have written the claim open or unknown; while nobody took it, it is ours and runs again. */
export function renew({ record }: Names, mine: Held): Statement {
  const { onAbandoned, leaseMs } = mine.policy
  return {
    text: `update ${record}
   set expires_at = ${DEDUPES_UNTIL}, lease_end = ${later()}, state = ?, body = ?
 where ${IS_MINE}`,
    params: [micros(leaseMs), STATE[onAbandoned], runningLabel(mine), ...mineOf(mine)],
  }
}
