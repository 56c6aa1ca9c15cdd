/** Removes what is past its end from one stretch of the table, and ends claims that nobody owns any more. */
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { literal, type Names } from '../../names.ts'
import { abandonedLabel, fenceOf, isRunning } from '../ends.ts'

/** Where a sweep is: a row's place in the table. */
export interface Place {
  readonly block: number
  readonly offset: number
}
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
  const isGone = `(r.state in (${STATE.open}, ${STATE.finished}, ${STATE.spent}) and r.expires_at <= now()
          and (r.fence is null or r.fence < ${fenceOf('now()')}))`
  const isAbandoned = `(${isRunning('r')} and r.lease_end <= now())`
  const place = (block: string, offset: string) => `('(' || ${block}::bigint || ',' || ${offset}::integer || ')')::tid`
  const keptFor = `substring(encode(r.body, 'escape') from '"retainMs":([0-9]+)}$')::float8 * interval '1 millisecond'`
  const text = `
with batch as materialized (
  select r.ctid as place
    from ${record} as r
   where r.ctid > ${place('$1', '$2')} and r.ctid < ${place('$3', '0')}
     and (${isGone} or ${isAbandoned})
   limit $4::bigint
     for update skip locked
), removed as (
  delete from ${record} as r
   where r.ctid = any (array(select place from batch)) and ${isGone}
  returning 1
), abandoned as (
  update ${record} as r
     set state      = case r.state when ${STATE.takeover} then ${STATE.open} else ${STATE.unknown} end,
         expires_at = case r.state when ${STATE.takeover}
                           then case when ${keptFor} is not null then greatest(now() + ${keptFor}, r.expires_at) end
                           else r.expires_at end,
         lease_end  = case r.state when ${STATE.takeover} then r.expires_at end,
         body       = case r.state when ${STATE.takeover} then r.body else ${abandonedLabel('r')} end
   where r.ctid = any (array(select place from batch)) and ${isAbandoned}
  returning 1
)
select (select count(*) from batch)::text                                        as found,
       (select max(place) from batch)::text                                      as last,
       (select count(*) from removed)::text                                      as removed,
       (select count(*) from abandoned)::text                                    as abandoned,
       (pg_relation_size(${regclass(record)}) / current_setting('block_size')::bigint)::text as blocks`
  return ({ from, toBlock, batch }) => ({ text, params: [from.block, from.offset, toBlock, batch] })
}

/** A table's name as text, to be read as a name again. */
const regclass = (record: string) => `${literal(record)}::regclass`
