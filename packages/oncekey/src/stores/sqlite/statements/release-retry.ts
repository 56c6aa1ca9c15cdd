/** Leaves an operation open: the next attempt may run. */
import { writeLabel } from '../../../core/label.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { DEDUPES_UNTIL, IS_MINE, NOW } from './columns.ts'
import { type Mine, mineOf } from './mine.ts'

/** It is remembered for the retention, and never for less than the downstream remembers it: past that it could run twice unseen. */
export function releaseRetry(record: string): (mine: Mine) => Statement {
  const text = `
  update ${record}
     set state = ${STATE.open}, body = ?4, lease_end = ${DEDUPES_UNTIL},
         expires_at = max(${NOW} + ?5, coalesce(${DEDUPES_UNTIL}, 0))
   where ${IS_MINE} and state <> ${STATE.open}`
  return (mine) => ({ text, params: [...mineOf(mine), writeLabel(mine.label), mine.policy.retainMs] })
}
