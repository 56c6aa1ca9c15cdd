/** What a restore changes: a new epoch first, then what was at work becomes unknown, a page of it at a time. */
import type { Restored } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { bytes } from '../../values.ts'
import { NOW } from '../columns.ts'
import { DEDUPES_UNTIL, IS_OVER, labelled } from '../ends.ts'

export function newEpoch({ meta }: Names, epoch: string, onEpochChange: Restored['onEpochChange']): Statement {
  return {
    text: `update ${meta} set epoch = ?, restored_at = ${NOW}, on_epoch_change = ?`,
    params: [bytes(epoch), onEpochChange],
  }
}

export function reconciled({ meta }: Names): Statement {
  return { text: `update ${meta} set restored_at = null, on_epoch_change = null`, params: [] }
}

const IS_AT_STAKE = `state in (${STATE.takeover}, ${STATE.hold}, ${STATE.open}) and not ${IS_OVER}`

/** Those that were there before; what is claimed from now on belongs to the new epoch. Locked ones are at work now. */
export function atStake({ record }: Names, after: string, limit: number, before: string): Statement {
  return {
    text: `select lower(hex(k)) as k
  from ${record}
 where k > ? and ${IS_AT_STAKE} and (fence is null or fence < ?)
 order by k
 limit ?
   for update skip locked`,
    params: [bytes(after), Number(before), limit],
  }
}

/** Token and fence stay, so that its owner, should it live, may still say what happened. */
export function unknowing({ record }: Names, ids: readonly string[]): Statement {
  return {
    text: `update ${record}
   set expires_at = ${DEDUPES_UNTIL}, lease_end = null, body = ${labelled('the store was restored')}, state = ${STATE.unknown}
 where k in (${ids.map(() => '?').join(', ')})`,
    params: ids.map(bytes),
  }
}
