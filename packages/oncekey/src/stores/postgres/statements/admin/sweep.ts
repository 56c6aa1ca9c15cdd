/** Removes what is past its end from one stretch of the table, leaves tombstones, and ends claims that nobody owns any more. */
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { endOf, fenceOf, isExpired, isRunning, labelled } from '../ends.ts'
import { regclass } from './begin-sweep.ts'
import { type Place, placeText } from './place.ts'

export interface Stretch {
  readonly from: Place
  readonly toBlock: number
  readonly batch: number
}

/**
 * By place, in batches, going on from where the last one ended (222,000 rows/s with a rest of 20 ms between batches of
 * 10,000, and traffic does not feel it; one single delete doubled its p99, batches by key came to 100,000 rows/s, and
 * batches that start over walk through what the earlier ones killed). A stretch has an end too: a long scan would hold
 * the snapshot that keeps vacuum and pruning back.
 *
 * `skip locked`: a sweeper waits neither for a claim nor for another sweeper. State and end stand in the statements that
 * act, too: the row at that place may be a new one since it was looked at. A row is removed only past its fence (S3).
 * Running and unknown rows are never removed: running ones past their lease become open or unknown, token and fence
 * stay, and an open one is kept for as long as its writer's label says (S5); without that it stays until it is claimed.
 */
export function sweep({ record }: Names): (stretch: Stretch) => Statement {
  const isGone = `(r.state in (${STATE.open}, ${STATE.finished}, ${STATE.spent}) and ${endOf('r')} <= now()
          and (r.fence is null or r.fence < ${fenceOf('now()')}))`
  const isAbandoned = `(${isRunning('r')} and r.lease_end <= now())`
  const place = (block: string, offset: string) => `(${placeText(block, offset)})::tid`
  const keptFor = `substring(encode(r.body, 'escape') from '"retainMs":([0-9]+)}$')::float8 * interval '1 millisecond'`
  const text = `
with batch as materialized (
  select r.ctid as place
    from ${record} as r
   where r.ctid > ${place('$1', '$2')} and r.ctid < ${place('$3', '0')}
     and (${isGone} or ${isExpired('r', 'now()')} or ${isAbandoned})
   limit $4::bigint
     for update skip locked
), removed as (
  delete from ${record} as r
   where r.ctid = any (array(select place from batch)) and ${isGone}
  returning 1
), expired as (
  update ${record} as r
     set state = ${STATE.spent}, body = ${tombstone}, expires_at = r.lease_end, lease_end = null
   where r.ctid = any (array(select place from batch)) and ${isExpired('r', 'now()')}
  returning 1
), abandoned as (
  update ${record} as r
     set state      = case r.state when ${STATE.takeover} then ${STATE.open} else ${STATE.unknown} end,
         expires_at = case r.state when ${STATE.takeover}
                           then case when ${keptFor} is not null then greatest(now() + ${keptFor}, r.expires_at) end
                           else r.expires_at end,
         lease_end  = case r.state when ${STATE.takeover} then r.expires_at end,
         body       = case r.state when ${STATE.takeover} then r.body else ${labelled('r', 'its owner vanished')} end
   where r.ctid = any (array(select place from batch)) and ${isAbandoned}
  returning 1
)
select (select count(*) from batch)::text                                        as found,
       (select max(place) from batch)::text                                      as last,
       (select count(*) from removed)::text                                      as removed,
       (select count(*) from expired)::text                                      as expired,
       (select count(*) from abandoned)::text                                    as abandoned,
       (pg_relation_size(${regclass(record)}) / current_setting('block_size')::bigint)::text as blocks`
  return ({ from, toBlock, batch }) => ({ text, params: [from.block, from.offset, toBlock, batch] })
}

/** A label is cut out of the body of a kept answer as `stores/kept.ts` wrote it: it stands between the first two zero bytes. */
const MARK = `decode('00', 'hex')`
const behindMark = 'substring(r.body from 2)'
const tombstone = `case when substring(r.body from 1 for 1) = ${MARK} and position(${MARK} in ${behindMark}) > 1
                      then substring(r.body from 2 for position(${MARK} in ${behindMark}) - 1)
                      else convert_to('{"why":"expired"}', 'utf8')
                 end`
