/** A beat: the claim runs for another lease. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { clock, dedupesUntil, later } from '../ends.ts'
import { isMine, mineOf, whatStands } from './mine.ts'

/** A sweeper or another caller may have written the claim open or unknown; while nobody took it, it is ours and runs again. */
export function renew(record: string): (mine: Held) => Statement {
  const text = `
with ${clock}, changed as (
  update ${record} as r
     set state = $4::smallint, body = $5::bytea, expires_at = ${dedupesUntil('r')}, lease_end = ${later('t', '$6')}
    from clock
   where ${isMine}
  returning 1
)${whatStands(record)}`
  return (mine) => ({
    text,
    params: [
      ...mineOf(mine),
      STATE[mine.policy.onAbandoned],
      writeLabel({ ...mine.label, retainMs: mine.policy.retainMs }),
      mine.policy.leaseMs,
    ],
  })
}
