/** Settles an operation by hand: it happened, and this is its answer. */
import type { KeyRecord, Receipt } from '../../../../core/record.ts'
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { writeKept } from '../../../kept.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { clock, later } from '../ends.ts'
import { isAsSeen, noted, seenOf } from './seen.ts'

export interface KeptFor {
  readonly retainMs: number
  readonly tombstoneMs?: number | undefined
}

/** Without its token no owner that comes back late can write over what was settled. */
export function settleFinished(
  names: Names,
): (seen: KeyRecord, receipt: Receipt, audit: Audit, kept: KeptFor) => Statement {
  const text = `
with ${clock}, changed as (
  update ${names.record} as r
     set state = ${STATE.finished}, body = $8::bytea, fence = null, token = null,
         expires_at = ${later('t', '$9')}, lease_end = ${later('t', '($9::float8 + $10)')}
    from clock
   where ${isAsSeen}
  returning 1
)${noted(names, 'finished')}`
  return (seen, receipt, audit, { retainMs, tombstoneMs = null }) => ({
    text,
    params: [...seenOf(seen, audit), writeKept({ receipt }, tombstoneMs !== null), retainMs, tombstoneMs],
  })
}
