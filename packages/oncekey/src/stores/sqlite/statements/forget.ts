/** Removes a record by an operator's word, if it still is as it was seen. */
import type { KeyRecord } from '../../../core/record.ts'
import type { Statement } from '../../database/database.ts'
import { isAsSeen, seenOf } from './seen.ts'

/** Running and unknown ones only by force: without them the operation may run a second time. */
export function forget(record: string): (seen: KeyRecord, force: boolean) => Statement {
  return (seen, force) => {
    const mayGo = force || seen.state === 'open' || seen.state === 'finished'
    const text = `
  delete from ${record}
   where ${mayGo ? isAsSeen(seen) : '?1 is null and ?2 is null and ?3 is null'}`
    return { text, params: seenOf(seen) }
  }
}
