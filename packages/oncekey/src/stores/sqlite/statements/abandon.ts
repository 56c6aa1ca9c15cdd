/** Writes down that an owner is gone and nobody knows what it did. */
import { writeLabel } from '../../../core/label.ts'
import type { Label } from '../../../core/operation.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { bytes } from '../sql.ts'
import { DEDUPES_UNTIL } from './columns.ts'

/** Token and fence stay: the owner may come back and say what happened. Judged by the caller under the same write lock. */
export function abandon(record: string): (id: string, label: Label) => Statement {
  const text = `
  update ${record}
     set state = ${STATE.unknown}, body = ?2, expires_at = ${DEDUPES_UNTIL}, lease_end = null
   where k = ?1 and state in (${STATE.takeover}, ${STATE.hold}, ${STATE.open})`
  return (id, label) => ({ text, params: [bytes(id), writeLabel({ ...label, why: 'its owner vanished' })] })
}
