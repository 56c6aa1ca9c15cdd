/** Lists records in the order of their ids, one page at a time. */
import type { KeyRecord } from '../../../../core/record.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { columns } from '../columns.ts'
import { isOver } from '../ends.ts'

export interface Page {
  readonly state?: KeyRecord['state'] | undefined
  readonly after?: string | undefined
  readonly limit: number
}

/** What this build does not know is shown as finished (S7). */
const NUMBERS: Readonly<Record<KeyRecord['state'], string>> = {
  running: `in (${STATE.takeover}, ${STATE.hold})`,
  open: `= ${STATE.open}`,
  finished: `not in (${STATE.takeover}, ${STATE.hold}, ${STATE.open}, ${STATE.unknown})`,
  unknown: `= ${STATE.unknown}`,
}

/** It scans: an index on the state would end HOT updates and cost every key 45 bytes and more, for a list that people read. */
export function list({ record }: Names): (page: Page) => Statement {
  return function pageOf({ state, after = '00000000000000000000000000000000', limit }) {
    return {
      text: `
select ${columns}
  from ${record} as r
 where k > $1::uuid
   and not ${isOver('r', 'clock_timestamp()')}${
     state === undefined
       ? ''
       : `
   and state ${NUMBERS[state]}`
   }
 order by k
 limit $2::bigint`,
      params: [after, limit],
    }
  }
}
