/** Claims an operation, or reads who has it, in one autocommit statement. */
import { writeLabel } from '../../../../core/label.ts'
import type { Owned } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import {
  because,
  clock,
  columns,
  dedupesOver,
  dedupesUntil,
  fenceOf,
  isOver,
  isRunning,
  isUnended,
  later,
} from '../columns.ts'

/**
 * A duplicate is answered by `found` alone: nothing is inserted, so no row is locked, no transaction id taken, no WAL
 * written. (`on conflict do update ... where false` locks the row: 96 bytes of WAL and an fsync for each duplicate,
 * 18 × the cost of a read.) Who finds nothing in the way inserts; who meets a row there judges its newest version once
 * more under its lock, and gets no row at all where somebody else has won since our snapshot: the caller runs it again.
 * On a standby or in a read-only session it is an error, also for duplicates (T14).
 */
export function claim(record: string): (wanted: Owned) => Statement {
  const t = '(select t from clock)'
  const own = (r: string) => `${isUnended(r)} and ${r}.token = $2::uuid`
  const claimable = (r: string) => `${isOver(r, t)}
      or ${r}.fingerprint = any ($3::text::uuid[])
         and (${own(r)} or ${r}.state = ${STATE.open} or ${isRunning(r)} and ${r}.lease_end <= ${t})`
  const text = `
with ${clock}, found as materialized (
  select r.*, coalesce(${claimable('r')}, false) as claimable,
         ${isRunning('r')} and r.token <> $2::uuid as claimed_before
    from ${record} as r
   where r.k = $1::uuid
), claimed as (
  insert into ${record} as r (k, fingerprint, expires_at, lease_end, fence, token, state, body)
  select $1::uuid, ($3::text::uuid[])[1], ${later('t', '$6')}, ${later('t', '$5')}, ${fenceOf('t')}, $2::uuid, $4::smallint, $7::bytea
    from clock
   where not exists (select from found where not claimable)
  on conflict (k) do update
     set (fingerprint, expires_at, lease_end, fence, token, state, body) = (
           select case when lost then r.fingerprint else excluded.fingerprint end,
                  case when absent then excluded.expires_at when lost then until else coalesce(until, excluded.expires_at) end,
                  case when lost then null else excluded.lease_end end,
                  case when lost or own then r.fence else greatest(r.fence + 1, excluded.fence) end,
                  case when lost then r.token else excluded.token end,
                  case when lost then ${STATE.unknown} else excluded.state end,
                  case when not lost then excluded.body
                       when forgotten then ${because('r.body', 'dedupes-over')}
                       else ${because('r.body', 'abandoned')} end
             from (select absent, own, until, forgotten,
                          not absent and not own and (forgotten or r.state = ${STATE.hold}) as lost
                     from (select coalesce(${isOver('r', t)}, false) as absent,
                                  coalesce(not ${isOver('r', t)} and ${own('r')}, false) as own,
                                  ${dedupesUntil('r')} as until,
                                  ${dedupesOver('r', t)} as forgotten) as judged) as judged)
   where ${claimable('r')}
  returning r.*
)
select${columns('r')},
       r.claimed, r.claimed and coalesce((select claimed_before from found), false) as taken_over
  from (select k, fingerprint, expires_at, lease_end, fence, token, state, body, false as claimed
          from found where not claimable
        union all
        select *, true from claimed) as r, clock`
  return ({ id, token, prints, policy, label }) => ({
    text,
    params: [
      id,
      token,
      `{${prints.join(',')}}`,
      STATE[policy.onAbandoned],
      policy.leaseMs,
      policy.dedupesForMs ?? null,
      writeLabel(label),
    ],
  })
}
