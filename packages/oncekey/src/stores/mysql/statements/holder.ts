/** Asks who has the key, where the row was refused. */
import type { Identity } from '../../../core/operation.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import type { Names } from '../names.ts'
import { bytes } from '../values.ts'

/** A transaction of ours is at work: no other record that is `unknown` has a token and no fence. */
export const IS_AT_WORK = `(state = ${STATE.unknown} and token is not null and fence is null)`

/**
 * MariaDB: reads the uncommitted row, for this one statement, and sees there for which request its owner works. What it
 * says is true at that instant, and is believed without a second look.
 */
export function holder(names: Names, { id, prints }: Pick<Identity, 'id' | 'prints'>): Statement {
  return {
    text: `begin not atomic
set transaction isolation level read uncommitted;
select ${IS_AT_WORK} as at_work,
       fingerprint in (${prints.map(() => '?').join(', ')}) as same,
       lower(hex(fingerprint)) as print
  from ${names.record}
 where k = ?;
end`,
    params: [...prints.map(bytes), bytes(id)],
  }
}

/** MySQL has no such block: who is at work cannot be seen there, and everybody is told `busy`. */
export function somebody(names: Names, { id }: Pick<Identity, 'id'>): Statement {
  return {
    text: `select not exists (select 1 from ${names.record} where k = ?) as at_work, true as same`,
    params: [bytes(id)],
  }
}
