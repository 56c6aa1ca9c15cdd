/** Settles an operation by hand: it happened, and this is its answer. */
import type { KeyRecord, Receipt } from '../../../../core/record.ts'
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { clock, later } from '../ends.ts'
import { isAsSeen, noted, seenOf } from './seen.ts'

/** Without its token no owner that comes back late can write over what was settled. */
export function settleFinished(
  names: Names,
): (seen: KeyRecord, receipt: Receipt, audit: Audit, retainMs: number) => Statement {
  const text = `
with ${clock}, changed as (
  update ${names.record} as r
     set state = ${STATE.finished}, body = $8::bytea, expires_at = ${later('t', '$9')}, lease_end = null, fence = null, token = null
    from clock
   where ${isAsSeen}
  returning 1
)${noted(names, 'finished')}`
  return (seen, receipt, audit, retainMs) => ({ text, params: [...seenOf(seen, audit), receipt, retainMs] })
}
