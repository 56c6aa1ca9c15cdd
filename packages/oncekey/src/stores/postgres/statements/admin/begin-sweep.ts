/** Claims sweeping, where nobody else sweeps, and says where the last sweep stopped. */
import type { Statement } from '../../../database/database.ts'
import { literal, type Names } from '../../names.ts'

/**
 * One row, so that of two that come at once the second waits for the first one's commit, and then finds it taken. The
 * claim of a sweeper that died ends by itself. `density` is what the statistics say of records to a page, or null.
 */
export function beginSweep({ meta, record }: Names): (sweeper: string, forMs: number) => Statement {
  const text = `
update ${meta}
   set sweeper = $1::uuid, sweeper_until = clock_timestamp() + $2::float8 * interval '1 millisecond'
 where sweeper is null or sweeper_until <= clock_timestamp()
returning sweep_place,
          (select case when relpages > 0 and reltuples > 0 then (reltuples / relpages)::float8 end
             from pg_class
            where oid = ${regclass(record)}) as density`
  return (sweeper, forMs) => ({ text, params: [sweeper, forMs] })
}

/** A table's name as text, to be read as a name again. */
export const regclass = (record: string) => `${literal(record)}::regclass`
