/** A beat: the claim runs for another lease. */
import { writeLabel } from '../../../core/label.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { DEDUPES_UNTIL, IS_MINE, NOW } from './columns.ts'
import { type Mine, mineOf } from './mine.ts'

/**
 * The end is always another one than before: `begin()` renews inside its transaction, and tells by it whether that
 * transaction was committed. Claim and begin() may fall into one millisecond.
 *
 * A sweeper or another caller may have written the claim open or unknown; while nobody took it, it is ours and runs again.
 */
export function renew(record: string): (mine: Mine) => Statement {
  const text = `
  update ${record}
     set state = ?4, body = ?5, expires_at = ${DEDUPES_UNTIL},
         lease_end = ${NOW} + ?6 + (lease_end is ${NOW} + ?6)
   where ${IS_MINE}`
  return (mine) => {
    const { onAbandoned, leaseMs, retainMs } = mine.policy
    return { text, params: [...mineOf(mine), STATE[onAbandoned], writeLabel({ ...mine.label, retainMs }), leaseMs] }
  }
}
