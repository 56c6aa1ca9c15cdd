/** Removes what is past its end, leaves tombstones, and ends what nobody is at work on any more, in one range of keys. */
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { IS_EXPIRED, IS_OVER, labelled, NOW } from './columns.ts'

const { takeover, hold, open, spent, unknown } = STATE

/** An owner that vanished, and whose record nobody has asked for since. */
const LAPSED = `(state in (${takeover}, ${hold}) and lease_end <= ${NOW})`

/** What the range goes up to, and if there is anything to do in it: on the connection that reads, so that clean ranges cost no lock. */
export function survey(record: string): (after: Uint8Array, batch: number) => Statement {
  const text = `
  select max(k) as last, count(*) as looked, sum(due) as due
    from (select k, ${IS_OVER} or ${IS_EXPIRED} or ${LAPSED} as due
            from ${record}
           where k > ?1
           order by k
           limit ?2)`
  return (after, batch) => ({ text, params: [after, batch] })
}

/** Running and unknown records are never removed, whatever stands in their columns. */
export function remove(record: string): (after: Uint8Array, last: Uint8Array) => Statement {
  const text = `
  delete from ${record}
   where k > ?1 and k <= ?2 and ${IS_OVER}`
  return (after, last) => ({ text, params: [after, last] })
}

/** The label is cut out of the body as `stores/kept.ts` wrote it: it stands between the first two zero bytes. */
export function leaveTombstones(record: string): (after: Uint8Array, last: Uint8Array) => Statement {
  const length = `instr(substr(body, 2), x'00') - 1`
  const text = `
  update ${record}
     set state = ${spent}, expires_at = lease_end, lease_end = null,
         body = case when substr(body, 1, 1) = x'00' and ${length} > 0 then substr(body, 2, ${length})
                     else cast('{"why":"expired"}' as blob)
                end
   where k > ?1 and k <= ?2 and ${IS_EXPIRED}`
  return (after, last) => ({ text, params: [after, last] })
}

/**
 * Token and fence stay: the owner may come back. An open record is kept for as long as its writer said in the label
 * (S5), and never shorter than the downstream deduplicates.
 */
export function abandonAll(record: string): (after: Uint8Array, last: Uint8Array) => Statement {
  const retained = `case when json_valid(cast(body as text)) then json_extract(cast(body as text), '$.retainMs') end`
  const text = `
  update ${record}
     set state      = case state when ${takeover} then ${open} else ${unknown} end,
         lease_end  = case state when ${takeover} then expires_at end,
         expires_at = case state when ${takeover}
                           then max(${NOW} + coalesce(${retained}, 0), coalesce(expires_at, 0))
                           else expires_at
                      end,
         body       = case state when ${takeover} then body
                           else ${labelled('its owner vanished')}
                      end
   where k > ?1 and k <= ?2 and ${LAPSED}`
  return (after, last) => ({ text, params: [after, last] })
}
