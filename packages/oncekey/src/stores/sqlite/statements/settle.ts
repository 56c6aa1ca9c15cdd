/** Ends an unknown or open record by an operator's word, if it still is as it was seen. */
import type { KeyRecord } from '../../../core/record.ts'
import type { Settlement } from '../../../core/store.ts'
import type { Statement } from '../../database/database.ts'
import { writeKept } from '../../kept.ts'
import { STATE } from '../../row.ts'
import { bytes } from '../sql.ts'
import { DEDUPES_UNTIL, IS_OVER, NOW } from './columns.ts'
import { STATES } from './page.ts'

export interface KeptFor {
  readonly retainMs: number
  readonly tombstoneMs?: number | undefined
}

/** The token goes, so that a former owner that comes back finds itself refused; the fence stays only where it may run again. */
export function settle(record: string): (seen: KeyRecord, as: Settlement, kept: KeptFor) => Statement {
  return ({ id, state, fence }, as, { retainMs, tombstoneMs = null }) => {
    const states = state === 'open' || state === 'unknown' ? STATES[state] : []
    const seen = `k = ?1 and fence is ?2 and state in (${states.join(', ')}) and not ${IS_OVER}`
    const where = [bytes(id), fence ?? null]
    switch (as.kind) {
      case 'finished':
        return {
          text: `
  update ${record}
     set state = ${STATE.finished}, body = ?3, fence = null, token = null,
         expires_at = ${NOW} + ?4, lease_end = ${NOW} + ?4 + ?5
   where ${seen}`,
          params: [...where, writeKept({ receipt: as.receipt }, tombstoneMs !== null), retainMs, tombstoneMs],
        }
      case 'retry':
        return {
          text: `
  update ${record}
     set state = ${STATE.open}, lease_end = ${DEDUPES_UNTIL}, token = null,
         expires_at = max(${NOW} + ?3, coalesce(${DEDUPES_UNTIL}, 0))
   where ${seen}`,
          params: [...where, retainMs],
        }
      case 'free':
        return { text: `delete from ${record} where ${seen}`, params: where }
      default:
        throw as satisfies never
    }
  }
}
