/** Claims an operation that nobody has claimed, or reads who has it, in one autocommit statement. */
import { writeLabel } from '../../../../core/label.ts'
import type { Owned } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { columns } from '../columns.ts'
import { fenceOf, later, now } from '../ends.ts'

/**
 * A duplicate is answered by `found` alone: nothing is inserted, so no row is locked, no transaction id taken, no WAL
 * written. `on conflict do update ... where false` would lock the row: 96 bytes of WAL and an fsync for each duplicate,
 * 18 × the cost of a read. No row at all comes back where somebody else has inserted since our snapshot (12 % of
 * contended claims): the caller runs it again.
 *
 * A record that may be taken is read too, and `take` decides. Both in one statement was tried: planning what hardly
 * ever happens made every claim dearer.
 *
 * On a standby or in a read-only session it is an error, also for duplicates (T14).
 */
export function claim(record: string): (wanted: Owned) => Statement {
  const text = `
with found as materialized (
  select *, false as inserted
    from ${record}
   where k = $1::uuid
), claimed as (
  insert into ${record} (k, fingerprint, expires_at, lease_end, fence, token, state, body)
  select $1::uuid, $2::uuid, ${later('t', '$6')}, ${later('t', '$5')}, ${fenceOf('t')}, $3::uuid, $4::smallint, $7::bytea
    from (select ${now}) as clock
   where not exists (select from found)
  on conflict (k) do nothing
  returning *, true
)
select ${columns},
       inserted
  from (select * from found union all select * from claimed) as r`
  return (wanted) => ({ text, params: [wanted.id, wanted.prints[0], ...ownerOf(wanted)] })
}

/** Token, state, lease, how long the downstream deduplicates, label: what a claim writes, however it came to it. */
export function ownerOf({ token, policy, label }: Owned): Statement['params'] {
  return [
    token,
    STATE[policy.onAbandoned],
    policy.leaseMs,
    policy.dedupesForMs ?? null,
    writeLabel({ ...label, retainMs: policy.retainMs }),
  ]
}
