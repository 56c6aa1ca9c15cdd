/** Ends a claim with its receipt, or with the note that there was one. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held, Kept } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { writeKept } from '../../../kept.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { micros } from '../../values.ts'
import { later } from '../ends.ts'
import { IS_MINE, mineOf } from './mine.ts'

/** The token stays, so that an owner whose reply was lost knows its own answer again; the retention counts from now (S5). */
export function complete({ record }: Names, mine: Held, kept: Kept): Statement {
  return {
    text: `update ${record}
   set state = ?, body = ?, expires_at = ${later()}, lease_end = ${later()}, fence = null
 where ${IS_MINE}`,
    params: [...ended(mine, kept), ...mineOf(mine)],
  }
}

/**
 * Stands behind `complete` where COMMIT travels with it: a lost claim has changed no row, and is an error inside SQL
 * (out of range, 1690, whatever the SQL mode), so that COMMIT becomes ROLLBACK (L1). A row count would be read too late.
 */
export const orFail: Statement = { text: 'select exp(if(row_count() = 1, 0, 710)) as kept', params: [] }

function ended({ label, policy }: Held, kept: Kept): Statement['params'] {
  const { retainMs, tombstoneMs } = policy
  if ('receipt' in kept) {
    const outlives = tombstoneMs === undefined ? null : micros(retainMs + tombstoneMs)
    return [STATE.finished, writeKept(kept, tombstoneMs !== undefined), micros(retainMs), outlives]
  }
  const { spent: why, head } = kept
  // There is no answer to outlive, so its key is bound for as long as one with a tombstone would be.
  return [
    STATE.spent,
    writeLabel({ ...label, why, ...(head ? { head } : {}) }),
    micros(retainMs + (tombstoneMs ?? 0)),
    null,
  ]
}
