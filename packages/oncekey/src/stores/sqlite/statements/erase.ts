/** Takes a kept answer away by an operator's word, and leaves its key bound until the last end that the record had. */
import { writeLabel } from '../../../core/label.ts'
import type { KeyRecord } from '../../../core/record.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { isAsSeen, seenOf } from './seen.ts'

const ERASED = writeLabel({ why: 'erased' })

/** What is erased already is told, not erased twice. The token stays: an owner whose reply was lost finds that it ended. */
export function erase(record: string): (seen: KeyRecord) => Statement {
  return (seen) => ({
    text: `
  update ${record}
     set state = ${STATE.spent}, body = ?4, expires_at = max(expires_at, coalesce(lease_end, expires_at)), lease_end = null
   where ${isAsSeen(seen)} and state in (${STATE.finished}, ${STATE.spent}) and body is not ?4`,
    params: [...seenOf(seen), ERASED],
  })
}
