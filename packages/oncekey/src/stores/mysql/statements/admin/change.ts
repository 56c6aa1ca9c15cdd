/** Changes by hand, each of a record that the same transaction has locked and compared with what the operator saw. */
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { type RecordRow, STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { bytes, micros } from '../../values.ts'
import { NOW } from '../columns.ts'
import { DEDUPES_UNTIL, later } from '../ends.ts'

export type Action = 'finished' | 'free' | 'retry' | 'forget' | 'erase' | 'restored' | 'reconciled'

/** Without its token no owner that comes back late can write over what was settled. */
export function settleFinished({ record }: Names, id: string, body: Uint8Array, kept: KeptFor): Statement {
  const { retainMs, tombstoneMs } = kept
  return {
    text: `update ${record}
   set state = ${STATE.finished}, body = ?, expires_at = ${later()}, lease_end = ${later()}, fence = null, token = null
 where k = ?`,
    params: [body, micros(retainMs), micros(tombstoneMs === undefined ? null : retainMs + tombstoneMs), bytes(id)],
  }
}
export interface KeptFor {
  readonly retainMs: number
  readonly tombstoneMs?: number | undefined
}

/**
 * The fingerprint stays bound, and so does the time for which the downstream deduplicates: past it the next claim finds
 * the outcome unknown again, and only `free` starts over. Assigned from left to right.
 */
export function settleRetry({ record }: Names, id: string, retainMs: number): Statement {
  return {
    text: `update ${record}
   set lease_end  = ${DEDUPES_UNTIL},
       expires_at = greatest(${later()}, coalesce(lease_end, 0)),
       state      = ${STATE.open},
       token      = null
 where k = ?`,
    params: [micros(retainMs), bytes(id)],
  }
}

/** Where the clock is not past the fence, the row has to stay, or the next claim could get a fence that is not higher (S3): it ends now, which reads as absent. */
export function remove({ record }: Names, { k, fence, now_us }: RecordRow): Statement {
  const id = bytes(k as string)
  if (fence === null || Number(fence) < Number(now_us))
    return { text: `delete from ${record} where k = ?`, params: [id] }
  return {
    text: `update ${record} set state = ${STATE.open}, expires_at = ${NOW}, lease_end = null, token = null where k = ?`,
    params: [id],
  }
}

/** The key stays bound until the later of the answer's ends. */
export function erase({ record }: Names, id: string, label: Uint8Array): Statement {
  return {
    text: `update ${record}
   set state = ${STATE.spent}, body = ?, expires_at = greatest(expires_at, coalesce(lease_end, 0)), lease_end = null
 where k = ?`,
    params: [label, bytes(id)],
  }
}

/** Written before the change, so that it keeps the label that the record will lose; a receipt is nobody's business here. */
export function note({ audit, record }: Names, action: Action, by: Audit, id?: string): Statement {
  const said = [Buffer.from(by.who), Buffer.from(by.why)]
  if (id === undefined)
    return {
      text: `insert into ${audit} (at, action, who, why) values (${NOW}, '${action}', ?, ?)`,
      params: said,
    }
  return {
    text: `insert into ${audit} (at, k, action, state, fence, label, who, why)
select ${NOW}, k, '${action}', state, fence, if(state = ${STATE.finished}, null, body), ?, ?
  from ${record}
 where k = ?`,
    params: [...said, bytes(id)],
  }
}
