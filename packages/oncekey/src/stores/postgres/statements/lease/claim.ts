/** Claims an operation, or reads who has it, in one autocommit statement. */
import { writeLabel } from '../../../../core/label.ts'
import type { Owned } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { columns } from '../columns.ts'
import {
  abandonedLabel,
  clock,
  dedupesOver,
  dedupesUntil,
  fenceOf,
  isOver,
  isRunning,
  isUnended,
  later,
} from '../ends.ts'

/**
 * A duplicate is answered by `found` alone: nothing is inserted, so no row is locked, no transaction id taken, no WAL
 * written. (`on conflict do update ... where false` locks the row: 96 bytes of WAL and an fsync for each duplicate,
 * 18 × the cost of a read.) Who finds nothing in the way inserts; who meets a row there judges its newest version once
 * more under its lock, and gets no row at all where somebody else has won since our snapshot: the caller runs it again.
 * On a standby or in a read-only session it is an error, also for duplicates (T14).
 */
export function claim(record: string): (wanted: Owned) => Statement {
  const texts = new Map<number, string>()

  /** One parameter for each fingerprint in rotation; `$7` is the one that gets written. */
  function textFor(prints: number): string {
    const text =
      texts.get(prints) ??
      textOf(
        record,
        Array.from({ length: prints }, (_, at) => `$${7 + at}::uuid`),
      )
    texts.set(prints, text)
    return text
  }

  return ({ id, token, prints, policy, label }) => ({
    text: textFor(prints.length),
    params: [
      id,
      token,
      STATE[policy.onAbandoned],
      policy.leaseMs,
      policy.dedupesForMs ?? null,
      writeLabel({ ...label, retainMs: policy.retainMs }),
      ...prints,
    ],
  })
}

function textOf(record: string, prints: readonly string[]): string {
  const t = '(select t from clock)'
  const isOwn = `${isUnended('r', t)} and r.token = $2::uuid`
  const isClaimable = `(${isOver('r', t)}
      or r.fingerprint in (${prints.join(', ')})
         and (${isOwn} or r.state = ${STATE.open} or ${isRunning('r')} and r.lease_end <= ${t}))`
  return `
with ${clock}, found as materialized (
  select r.*, coalesce(${isClaimable}, false) as claimable,
         ${isRunning('r')} and r.token <> $2::uuid as claimed_before
    from ${record} as r
   where r.k = $1::uuid
), claimed as (
  insert into ${record} as r (k, fingerprint, expires_at, lease_end, fence, token, state, body)
  select $1::uuid, $7::uuid, ${later('t', '$5')}, ${later('t', '$4')}, ${fenceOf('t')}, $2::uuid, $3::smallint, $6::bytea
    from clock
   where not exists (select from found where not claimable)
  on conflict (k) do update
     set (fingerprint, expires_at, lease_end, fence, token, state, body) = (
           select case when absent then excluded.fingerprint else r.fingerprint end,
                  case when absent then excluded.expires_at when lost then until
                       else coalesce(until, excluded.expires_at) end,
                  case when lost then null else excluded.lease_end end,
                  case when lost or own then r.fence else greatest(r.fence + 1, excluded.fence) end,
                  case when lost then r.token else excluded.token end,
                  case when lost then ${STATE.unknown} else excluded.state end,
                  case when lost then ${abandonedLabel('r')} else excluded.body end
             from (select absent, own, until, not absent and not own and (forgotten or r.state = ${STATE.hold}) as lost
                     from (select ${isOver('r', t)} as absent,
                                  coalesce(${isOwn}, false) as own,
                                  ${dedupesUntil('r')} as until,
                                  ${dedupesOver('r', t)} as forgotten) as facts) as judged)
   where ${isClaimable}
  -- A row that was there before carries our lock, one that we inserted does not.
  returning r.*, r.xmax = '0'::xid as inserted
)
select ${columns},
       claimed, inserted, claimed and coalesce((select claimed_before from found), false) as taken_over
  from (select k, fingerprint, expires_at, lease_end, fence, token, state, body, false as inserted, false as claimed
          from found
         where not claimable
        union all
        select *, true from claimed) as r`
}
