/** Counts the records of each state. */
import type { Statement } from '../../../database/database.ts'
import type { Names } from '../../names.ts'
import { isOver } from '../ends.ts'

export function stats({ record }: Names): Statement {
  return {
    text: `
select state, count(*)::text as count
  from ${record} as r
 where not ${isOver('r', 'clock_timestamp()')}
 group by state`,
    params: [],
  }
}
