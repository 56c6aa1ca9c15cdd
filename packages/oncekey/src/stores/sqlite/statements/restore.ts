/** Says that the file came back from a backup: a new epoch, and nothing that was at work is guessed about. */
import type { Audit, Restored } from '../../../core/store.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import type { Tables } from '../tables.ts'
import { DEDUPES_UNTIL, IS_OVER, labelled, NOW } from './columns.ts'

const { takeover, hold, open, unknown } = STATE
const AT_WORK = `state in (${takeover}, ${hold}, ${open}) and not ${IS_OVER}`

/** One entry for each record, as it was, and one of sixteen zero bytes for the store. Goes first. */
export function noteRestored({ record, audit }: Tables): (by: Audit) => Statement {
  const text = `
  insert into ${audit} (at, k, action, state, fence, label, who, why)
  select ${NOW}, k, 'restored', state, fence, body, ?1, ?2
    from ${record}
   where ${AT_WORK}
   union all
  select ${NOW}, zeroblob(16), 'restored', null, null, null, ?1, ?2`
  return (by) => ({ text, params: written(by) })
}

/** Token and fence stay: an owner that lives may still say what happened. */
export function holdAll({ record }: Tables): Statement {
  return {
    text: `
  update ${record}
     set state = ${unknown}, expires_at = ${DEDUPES_UNTIL}, lease_end = null, body = ${labelled('the store was restored')}
   where ${AT_WORK}`,
    params: [],
  }
}

export function beginEpoch({ meta }: Tables): (onEpochChange: Restored['onEpochChange']) => Statement {
  const text = `
  update ${meta}
     set epoch = randomblob(16), restored_at = ${NOW}, on_epoch_change = ?1
  returning epoch, restored_at, on_epoch_change`
  return (onEpochChange) => ({ text, params: [onEpochChange] })
}

/** Ends the care that a restore asked for; the epoch stays. */
export function endRestored({ meta }: Tables): Statement {
  return {
    text: `update ${meta} set restored_at = null, on_epoch_change = null where restored_at is not null`,
    params: [],
  }
}

export function noteReconciled({ audit }: Tables): (by: Audit) => Statement {
  const text = `
  insert into ${audit} (at, k, action, who, why)
  values (${NOW}, zeroblob(16), 'reconciled', ?1, ?2)`
  return (by) => ({ text, params: written(by) })
}

function written({ who, why }: Audit): readonly Uint8Array[] {
  return [Buffer.from(who), Buffer.from(why)]
}
