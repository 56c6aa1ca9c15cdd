/** Writes down that nobody knows what happened; only people end that. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { clock, dedupesUntil } from '../ends.ts'
import { isMine, mineOf, whatStands } from './mine.ts'

export function hold(record: string): (mine: Held, why: string) => Statement {
  const text = `
with ${clock}, changed as (
  update ${record} as r
     set state = ${STATE.unknown}, body = $4::bytea, expires_at = ${dedupesUntil('r')}, lease_end = null
    from clock
   where ${isMine}
  returning 1
)${whatStands(record)}`
  return (mine, why) => ({ text, params: [...mineOf(mine), writeLabel({ ...mine.label, why })] })
}
