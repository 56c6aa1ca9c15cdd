/** A record as an operator saw it, as a condition: what is another one now is left alone. */
import type { KeyRecord } from '../../../core/record.ts'
import { STATE } from '../../row.ts'
import type { Param } from '../sql.ts'
import { bytes } from '../sql.ts'
import { IS_OVER, SHOWN_END } from './columns.ts'
import { STATES } from './page.ts'

/** ?1 to ?3. Finished records have no fence; their end tells one from the next. */
export function isAsSeen({ state, why }: KeyRecord): string {
  // S7: what this build does not know is shown as finished, and can be forgotten all the same.
  if (why === 'unknown-state') return `k = ?1 and ?2 is null and ?3 is null and state > ${STATE.unknown}`
  return `k = ?1 and fence is ?2 and state in (${STATES[state].join(', ')}) and (?3 is null or ${SHOWN_END} = ?3) and not ${IS_OVER}`
}

export function seenOf({ id, state, fence, expiresAt }: KeyRecord): readonly Param[] {
  return [bytes(id), fence ?? null, (state === 'finished' && expiresAt?.getTime()) || null]
}
