/** Ends the care that a restore asked for: what was lost is known and dealt with. */
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import type { Names } from '../../names.ts'
import { THE_STORE } from './restore.ts'
import { bytesOf } from './seen.ts'

/** The epoch stays: processes from before the restore still have to be started again. */
export function reconcile({ audit, meta }: Names): (by: Audit) => Statement {
  const text = `
with ended as (
  update ${meta} set restored_at = null, on_epoch_change = null where restored_at is not null
  returning 1
)
insert into ${audit} (k, action, who, why)
select '${THE_STORE}', 'reconciled', $1::bytea, $2::bytea from ended`
  return (by) => ({ text, params: bytesOf(by) })
}
