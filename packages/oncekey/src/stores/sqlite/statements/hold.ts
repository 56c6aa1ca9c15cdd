/** Writes down that nobody knows what happened; only people end that. */
import { writeLabel } from '../../../core/label.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { DEDUPES_UNTIL, IS_MINE } from './columns.ts'
import { type Mine, mineOf } from './mine.ts'

export function hold(record: string): (mine: Mine, why: string) => Statement {
  const text = `
  update ${record}
     set state = ${STATE.unknown}, body = ?4, expires_at = ${DEDUPES_UNTIL}, lease_end = null
   where ${IS_MINE}`
  return (mine, why) => ({ text, params: [...mineOf(mine), writeLabel({ ...mine.label, why })] })
}
