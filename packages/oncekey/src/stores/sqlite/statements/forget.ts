/** Removes a record by an operator's word, if it still is as it was seen. */
import type { KeyRecord } from '../../../core/record.ts'
import type { Statement } from '../../database/database.ts'
import { bytes } from '../sql.ts'
import { IS_OVER } from './columns.ts'
import { STATES } from './page.ts'

/** Running and unknown ones only by force: without them the operation may run a second time. */
export function forget(record: string): (seen: KeyRecord, force: boolean) => Statement {
  return ({ id, state, fence }, force) => {
    const states = force || state === 'open' || state === 'finished' ? STATES[state] : []
    const text = `
  delete from ${record}
   where k = ?1 and fence is ?2 and state in (${states.join(', ')}) and not ${IS_OVER}`
    return { text, params: [bytes(id), fence ?? null] }
  }
}
