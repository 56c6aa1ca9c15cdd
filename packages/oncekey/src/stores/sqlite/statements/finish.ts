/** Ends a claim with its receipt, or with the note that there was one. */
import { writeLabel } from '../../../core/label.ts'
import type { Kept } from '../../../core/store.ts'
import type { Statement } from '../../database/database.ts'
import { writeKept } from '../../kept.ts'
import { STATE } from '../../row.ts'
import { bytes } from '../sql.ts'
import { IS_MINE, NOW } from './columns.ts'
import { type Mine, mineOf } from './mine.ts'

/**
 * The retention counts from now (S5). In lease mode the token stays, so that an owner whose own reply was lost knows
 * its answer again; in transaction mode the write lock has kept everybody out, and 17 bytes are saved.
 */
export function finish(record: string): (mine: Mine, kept: Kept) => Statement {
  const text = `
  update ${record}
     set state = ?4, body = ?5, expires_at = ${NOW} + ?6, lease_end = ${NOW} + ?6 + ?8, fence = null, token = ?7
   where ${IS_MINE}`
  return (mine, kept) => {
    const { retainMs, tombstoneMs = null } = mine.policy
    const token = mine.fence === null ? null : bytes(mine.token)
    if ('receipt' in kept) {
      const body = writeKept(kept, tombstoneMs !== null)
      return { text, params: [...mineOf(mine), STATE.finished, body, retainMs, token, tombstoneMs] }
    }
    const { spent: why, head } = kept
    const label = writeLabel({ ...mine.label, why, ...(head ? { head } : {}) })
    // There is no answer to outlive, so its key is bound for as long as one with a tombstone would be.
    return { text, params: [...mineOf(mine), STATE.spent, label, retainMs + (tombstoneMs ?? 0), token, null] }
  }
}
