/** How many records there are of each state, without those past their end. */
import type { Statement } from '../../database/database.ts'
import { IS_OVER } from './columns.ts'

export function counts(record: string): Statement {
  return {
    text: `
  select state, count(*) as count
    from ${record}
   where not ${IS_OVER}
   group by state`,
    params: [],
  }
}
