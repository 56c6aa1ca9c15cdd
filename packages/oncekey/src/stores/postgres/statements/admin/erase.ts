/** Takes a kept answer away by hand, and leaves its key bound. */
import { writeLabel } from '../../../../core/label.ts'
import type { KeyRecord } from '../../../../core/record.ts'
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { clock } from '../ends.ts'
import { isAsSeen, noted, seenOf } from './seen.ts'

const ERASED = writeLabel({ why: 'erased' })

/**
 * Nothing runs again before the last end that the record had. What is erased already is told, not erased twice. The
 * token stays: an owner whose reply was lost still finds that its operation ended.
 */
export function erase(names: Names): (seen: KeyRecord, audit: Audit) => Statement {
  const isAnswer = `${isAsSeen}
         and r.state in (${STATE.finished}, ${STATE.spent}) and r.body is distinct from $8::bytea`
  const text = `
with ${clock}, changed as (
  update ${names.record} as r
     set state = ${STATE.spent}, body = $8::bytea, expires_at = greatest(r.expires_at, r.lease_end), lease_end = null
    from clock
   where ${isAnswer}
  returning 1
)${noted(names, 'erase', isAnswer)}`
  return (seen, audit) => ({ text, params: [...seenOf(seen, audit), ERASED] })
}
