/** Reads records for people: one by its id, a page, counts. */
import type { KeyRecord } from '../../../../core/record.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { bytes } from '../../values.ts'
import { columns } from '../columns.ts'
import { IS_OVER } from '../ends.ts'

export function find({ record }: Names, id: string): Statement {
  return { text: `select ${columns} from ${record} where k = ?`, params: [bytes(id)] }
}

/** For a change of it in the same transaction; refused at once where somebody is at work on it. */
export function findLocked(names: Names, id: string): Statement {
  const { text, params } = find(names, id)
  return { text: `${text} for update nowait`, params }
}

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

/** It scans: an index on the state would be written with every key, for a list that people read. */
export function list({ record }: Names, { state, after = '0'.repeat(32), limit }: Page): Statement {
  return {
    text: `select ${columns}
  from ${record}
 where k > ?
   and not ${IS_OVER}${state === undefined ? '' : `\n   and state ${NUMBERS[state]}`}
 order by k
 limit ?`,
    params: [bytes(after), limit],
  }
}

export function stats({ record }: Names): Statement {
  return { text: `select state, count(*) as count from ${record} where not ${IS_OVER} group by state`, params: [] }
}
