/** Leaves an operation open: the next attempt may run. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { clock, dedupesUntil, later } from '../ends.ts'
import { isMine, mineOf, whatStands } from './mine.ts'

/** It is remembered for the retention, and never for less than the downstream remembers it: past that it could run twice unseen. */
export function releaseRetry(record: string): (mine: Held) => Statement {
  const isMineAndNotOpen = `${isMine} and r.state <> ${STATE.open}`
  const text = `
with ${clock}, changed as (
  update ${record} as r
     set state = ${STATE.open}, body = $4::bytea, lease_end = ${dedupesUntil('r')},
         expires_at = greatest(${later('t', '$5')}, ${dedupesUntil('r')})
    from clock
   where ${isMineAndNotOpen}
  returning 1
)${whatStands(record, isMineAndNotOpen)}`
  return (mine) => ({ text, params: [...mineOf(mine), writeLabel(mine.label), mine.policy.retainMs] })
}
