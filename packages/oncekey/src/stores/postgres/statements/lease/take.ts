/** Claims an operation whose record stands in nobody's way any more, in one autocommit statement. */
import type { Owned } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { columns } from '../columns.ts'
import { dedupesOver, dedupesUntil, fenceOf, isOver, isRunning, isUnended, labelled, later, now } from '../ends.ts'
import { ownerOf } from './claim.ts'

/**
 * The row is judged under its lock, in its newest version: of many takers one finds it takeable, and the others get no
 * row. Past its end it is absent, and anybody starts over. With the same fingerprint: our own token is ours still (S2),
 * open and running past the lease are taken, or, where its writer said hold or the downstream has forgotten, written
 * unknown with the former owner's token and fence, so that it may still end it. The first claim's `dedupes until` stays.
 */
export function take(record: string): (wanted: Owned) => Statement {
  const texts = new Map<number, string>()

  /** One parameter for each fingerprint in rotation; `$2` is the one that gets written. */
  function textFor(prints: number): string {
    const others = Array.from({ length: prints - 1 }, (_, at) => `, $${8 + at}::uuid`)
    const text = texts.get(prints) ?? textOf(record, `$2::uuid${others.join('')}`)
    texts.set(prints, text)
    return text
  }

  return (wanted) => ({
    text: textFor(wanted.prints.length),
    params: [wanted.id, wanted.prints[0], ...ownerOf(wanted), ...wanted.prints.slice(1)],
  })
}

function textOf(record: string, prints: string): string {
  const isOwn = `(${isUnended('r')} and r.token = $3::uuid)`
  return `
with found as materialized (
  select r.*, t,
         ${isOver('r')} as absent,
         coalesce(${isOwn}, false) as own,
         ${dedupesUntil('r')} as until,
         ${dedupesOver('r')} or r.state = ${STATE.hold} as held
    from ${record} as r, (select ${now}) as clock
   where r.k = $1::uuid
     and (${isOver('r')}
          or r.fingerprint in (${prints})
             and (${isOwn} or r.state = ${STATE.open} or ${isRunning('r')} and r.lease_end <= t))
     for update of r
), judged as materialized (
  select *, not absent and not own and held as lost from found
), taken as (
  update ${record} as r
     set fingerprint = case when absent then $2::uuid else r.fingerprint end,
         expires_at  = case when absent then ${later('t', '$6')} when lost then until
                            else coalesce(until, ${later('t', '$6')}) end,
         lease_end   = case when not lost then ${later('t', '$5')} end,
         fence       = case when lost or own then r.fence else greatest(r.fence + 1, ${fenceOf('t')}) end,
         token       = case when lost then r.token else $3::uuid end,
         state       = case when lost then ${STATE.unknown} else $4::smallint end,
         body        = case when lost then ${labelled('r', 'its owner vanished')} else $7::bytea end
    from judged
   where r.k = judged.k
  returning r.*, absent as fresh, lost, ${isRunning('judged')} and not own as taken_over
)
select ${columns},
       fresh, lost, taken_over
  from taken`
}
