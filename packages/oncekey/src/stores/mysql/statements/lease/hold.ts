/** Writes down that nobody knows what happened; only people end that. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { DEDUPES_UNTIL } from '../ends.ts'
import { IS_MINE, mineOf } from './mine.ts'

export function hold({ record }: Names, mine: Held, why: string): Statement {
  return {
    text: `update ${record}
   set expires_at = ${DEDUPES_UNTIL}, lease_end = null, body = ?, state = ${STATE.unknown}
 where ${IS_MINE}`,
    params: [writeLabel({ ...mine.label, why }), ...mineOf(mine)],
  }
}
