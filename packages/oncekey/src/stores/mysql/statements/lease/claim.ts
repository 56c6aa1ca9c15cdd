/** Claims an operation that has no record. */
import { writeLabel } from '../../../../core/label.ts'
import type { Owned } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { bytes, micros } from '../../values.ts'
import { NOW } from '../columns.ts'
import { later } from '../ends.ts'

/**
 * Sent only where the look before it found nothing: an insert that fails locks the record, and duplicates would lock out
 * its owner. Whoever comes second all the same is refused (1062), and looks again. MySQL has no `returning` that both
 * servers know; `last_insert_id` brings the fence back with the answer. Where a transaction is at work on this key, its row is not
 * waited for; MySQL is sent `probe` before it.
 */
export function claim({ record }: Names, wanted: Owned, nowait: boolean): Statement {
  const { id, prints, token, policy } = wanted
  return {
    text: `${nowait ? 'set statement innodb_lock_wait_timeout = 0 for ' : ''}insert into ${record} (k, fingerprint, expires_at, lease_end, fence, token, state, body)
values (?, ?, ${later()}, ${later()}, last_insert_id(${NOW}), ?, ?, ?)`,
    params: [
      bytes(id),
      bytes(prints[0]),
      micros(policy.dedupesForMs),
      micros(policy.leaseMs),
      bytes(token),
      STATE[policy.onAbandoned],
      runningLabel(wanted),
    ],
  }
}

export function runningLabel({ label, policy }: Owned): Uint8Array {
  return writeLabel({ ...label, retainMs: policy.retainMs })
}
