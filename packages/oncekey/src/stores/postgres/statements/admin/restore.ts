/** Says that the records came back from a backup or a replica: a new epoch, and nothing that was at work is guessed about. */
import type { Audit, Restored } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { microseconds } from '../columns.ts'
import { clock, dedupesUntil, isOver, isRunning, labelled } from '../ends.ts'
import { bytesOf } from './seen.ts'

/** In the audit: not one record, but the store. */
export const THE_STORE = '00000000-0000-0000-0000-000000000000'

/**
 * One statement, so that no epoch stands without its unknown records. It reads the whole table once. Token and fence
 * stay: an owner that lives may still say what happened.
 */
export function restore({ record, audit, meta }: Names): (how: Audit & Pick<Restored, 'onEpochChange'>) => Statement {
  const textFor = (onEpochChange: Restored['onEpochChange']) => `
with ${clock}, told as (
  update ${meta}
     set epoch = gen_random_uuid(), restored_at = t, on_epoch_change = '${onEpochChange}'
    from clock
  returning epoch, restored_at, on_epoch_change
), held as (
  update ${record} as r
     set state = ${STATE.unknown}, expires_at = ${dedupesUntil('r')}, lease_end = null,
         body = ${labelled('r', 'the store was restored')}
    from clock
   where (${isRunning('r')} or r.state = ${STATE.open}) and not ${isOver('r')}
  returning r.k
), noted as (
  insert into ${audit} (k, action, state, fence, label, who, why)
  select k, 'restored', state, fence, body, $1::bytea, $2::bytea
    from ${record}
   where k in (select k from held)
   union all
  select '${THE_STORE}', 'restored', null, null, null, $1::bytea, $2::bytea
)
select epoch::text as epoch, ${microseconds('restored_at')} as restored_us, on_epoch_change,
       (select count(*) from held) as unknown
  from told`
  const texts = { run: textFor('run'), refuse: textFor('refuse') }
  return ({ onEpochChange, ...by }) => ({ text: texts[onEpochChange], params: bytesOf(by) })
}
