/** Asks who holds the key's lock, where the locks alone left it open. */
import type { Statement } from '../../database/database.ts'
import type { Locks } from '../../transactional/locks.ts'

/**
 * Does the holder of K hold one of my F too? Then it does the same request. It takes F before K, so whoever holds K and
 * none of them does another one. No row: nobody holds K any more. In a transaction of its own, after 5 ms, and never
 * believed alone (T4): asked in the same statement as the record it was wrong 176 of 1,000 times, and inside the
 * opening it costs half the speed, because `pg_locks` stops every lock partition of the server for a moment.
 */
export function holder({ key, prints }: Locks): Statement {
  const half = (number: string): string =>
    `classid = ((${number}::bigint >> 32) & 4294967295)::oid and objid = (${number}::bigint & 4294967295)::oid`
  return {
    text: `with advisory as materialized (
  select pid, mode, classid, objid
    from pg_locks
   where locktype = 'advisory' and objsubid = 1 and granted
     and database = (select oid from pg_database where datname = current_database()))
select exists (select
                 from advisory print
                where print.pid = owner.pid
                  and (${prints.map((_, index) => half(`$${index + 2}`)).join(' or ')})) as same
  from advisory owner
 where mode = 'ExclusiveLock' and ${half('$1')}
   and not pg_is_in_recovery()`,
    params: [key, ...prints],
  }
}
