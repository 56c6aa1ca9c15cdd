/** What changes by hand have in common: a compare with what the operator saw, an audit in the same statement, and the record that stands now. */
import type { KeyRecord } from '../../../../core/record.ts'
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { columns } from '../columns.ts'
import { isExpired, isOver } from '../ends.ts'

/** What a finished record shows as its end: the answer's while it has one, then the tombstone's. */
const shownEnd = `case when ${isExpired('r')} then r.lease_end else r.expires_at end`

/** `r` still is as the operator saw it. `$1` to `$5` of every such statement, `$6` and `$7` say who and why. */
export const isAsSeen = `r.k = $1::uuid and r.state between $2::smallint and $3::smallint
         and (r.fence is not distinct from $4::bigint or r.state > ${STATE.unknown})
         and ($5::bigint is null or floor(extract(epoch from ${shownEnd}) * 1000) = $5::bigint)
         and not ${isOver('r')}`

/** States of one word are neighbours; what this build does not know is shown as finished, and can be forgotten all the same. */
function statesOf({ state, why }: KeyRecord): readonly [from: number, to: number] {
  switch (state) {
    case 'running':
      return [STATE.takeover, STATE.hold]
    case 'open':
      return [STATE.open, STATE.open]
    case 'finished':
      return why === 'unknown-state' ? [STATE.unknown + 1, 32_767] : [STATE.finished, STATE.spent]
    case 'unknown':
      return [STATE.unknown, STATE.unknown]
    default:
      throw state satisfies never
  }
}

/** Finished records have no fence; their end tells one from the next. */
export function seenOf(seen: KeyRecord, audit: Audit): Statement['params'] {
  const end = seen.state === 'finished' ? (seen.expiresAt?.getTime() ?? null) : null
  return [seen.id, ...statesOf(seen), seen.fence ?? null, end, ...bytesOf(audit)]
}

/** What people wrote goes into bytes (I6). */
export function bytesOf({ who, why }: Audit): readonly Uint8Array[] {
  const utf8 = new TextEncoder()
  return [utf8.encode(who), utf8.encode(why)]
}

type Action = 'finished' | 'free' | 'retry' | 'forget' | 'erase'

/**
 * Ends a statement whose CTE `changed` has one row where the change was made. The audit keeps the label, since the
 * record will not; a receipt is nobody's business here, and what is erased is erased here too. Where the change had to wait for another, our snapshot may
 * still show what the operator saw (`as_seen`), and the caller runs the statement again.
 */
export const noted = ({ record, audit }: Names, action: Action, condition = isAsSeen) => `, noted as (
  insert into ${audit} (k, action, state, fence, label, who, why)
  select k, '${action}', state, fence,
         ${action === 'erase' ? 'null' : `case when state <> ${STATE.finished} then body end`}, $6::bytea, $7::bytea
    from ${record}
   where k = $1::uuid and exists (select from changed)
)
select ${columns},
       exists (select from changed) as done, (${condition}) is true as as_seen
  from clock left join ${record} as r on r.k = $1::uuid`

/** The CTEs that remove a record, or end it where the clock is not past its fence yet (S3). */
export const removed = (record: string, fenceNow: string) => `gone as (
  delete from ${record} as r using clock
   where ${isAsSeen} and (r.fence is null or r.fence < ${fenceNow})
  returning 1
), ended as (
  update ${record} as r
     set state = ${STATE.open}, expires_at = t, lease_end = null, token = null
    from clock
   where ${isAsSeen} and r.fence >= ${fenceNow}
  returning 1
), changed as (
  select from gone union all select from ended
)`
