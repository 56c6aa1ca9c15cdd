/** Lists records in the order of their ids; there is no index but the key, so that a filter reads what it leaves out. */
import type { KeyRecord } from '../../../core/record.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { bytes } from '../sql.ts'
import { COLUMNS, IS_OVER } from './columns.ts'

/** Which numbers stand for a state as people call it. */
export const STATES: Readonly<Record<KeyRecord['state'], readonly number[]>> = {
  running: [STATE.takeover, STATE.hold],
  open: [STATE.open],
  finished: [STATE.finished, STATE.spent],
  unknown: [STATE.unknown],
}

export function page(record: string): (after: string, limit: number, state?: KeyRecord['state']) => Statement {
  return (after, limit, state) => ({
    text: `
  select ${COLUMNS}
    from ${record}
   where k > ?1 and not ${IS_OVER}${state === undefined ? '' : ` and state in (${STATES[state].join(', ')})`}
   order by k
   limit ?2`,
    params: [bytes(after), limit],
  })
}
