/** Settles an operation by hand: the next attempt may run. */
import type { KeyRecord } from '../../../../core/record.ts'
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { clock, dedupesUntil, later } from '../ends.ts'
import { isAsSeen, noted, seenOf } from './seen.ts'

/**
 * The fingerprint stays bound, and so does the time for which the downstream deduplicates: past it the next claim
 * finds the outcome unknown again, and only `free` starts over.
 */
export function settleRetry(names: Names): (seen: KeyRecord, audit: Audit, retainMs: number) => Statement {
  const text = `
with ${clock}, changed as (
  update ${names.record} as r
     set state = ${STATE.open}, token = null, lease_end = ${dedupesUntil('r')},
         expires_at = greatest(${later('t', '$8')}, ${dedupesUntil('r')})
    from clock
   where ${isAsSeen}
  returning 1
)${noted(names, 'retry')}`
  return (seen, audit, retainMs) => ({ text, params: [...seenOf(seen, audit), retainMs] })
}
