/** Ends a claim with its receipt, or with the note that there was one. */
import { writeLabel } from '../../../../core/label.ts'
import type { Held, Kept } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { writeKept } from '../../../kept.ts'
import { STATE } from '../../../row.ts'
import { clock, later } from '../ends.ts'
import { isMine, mineOf, whatStands } from './mine.ts'

/** The token stays, so that an owner whose reply was lost knows its own answer again; the retention counts from now (S5). */
const keep = (record: string, tombstone: boolean) => `
with ${clock}, changed as (
  update ${record} as r
     set state = $4::smallint, body = $5::bytea, expires_at = ${later('t', '$6')}, fence = null,
         lease_end = ${tombstone ? later('t', '($6::float8 + $7::float8)') : 'null'}
    from clock
   where ${isMine}
  returning 1
)`

export function complete(record: string): (mine: Held, kept: Kept) => Statement {
  return statement((tombstone) => keep(record, tombstone) + whatStands(record))
}

/**
 * The same as the last statement of a transaction, where COMMIT travels with it: a lost claim is an error inside SQL
 * (division by zero, 22012), so that COMMIT becomes ROLLBACK (L1). A row count would be read too late.
 */
export function completeOrFail(record: string): (mine: Held, kept: Kept) => Statement {
  return statement(
    (tombstone) => `${keep(record, tombstone)}
select 1 / count(*) as done from changed`,
  )
}

/** Where no tombstone is wanted nothing is worked out for it, and no parameter sent. */
function statement(textFor: (tombstone: boolean) => string): (mine: Held, kept: Kept) => Statement {
  const [bare, withTombstone] = [textFor(false), textFor(true)]
  return function completing(mine, kept) {
    const { retainMs, tombstoneMs } = mine.policy
    if ('receipt' in kept) {
      const wanted = tombstoneMs !== undefined
      const params = [...mineOf(mine), STATE.finished, writeKept(kept, wanted), retainMs]
      return wanted ? { text: withTombstone, params: [...params, tombstoneMs] } : { text: bare, params }
    }
    const { spent: why, head } = kept
    const label = writeLabel({ ...mine.label, why, ...(head ? { head } : {}) })
    // There is no answer to outlive, so its key is bound for as long as one with a tombstone would be.
    return { text: bare, params: [...mineOf(mine), STATE.spent, label, retainMs + (tombstoneMs ?? 0)] }
  }
}
