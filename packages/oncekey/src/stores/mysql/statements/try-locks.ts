/** Takes the key for this transaction, or is refused at once: the record's own row is the lock. */
import { writeLabel } from '../../../core/label.ts'
import type { Identity } from '../../../core/operation.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import type { Names } from '../names.ts'
import { bytes } from '../values.ts'
import { IS_OVER } from './ends.ts'

/** What stands in the row should the work commit by itself (T3): nobody knows what it left. */
export const FOREIGN = 'the work ended its own transaction'

/**
 * Nobody else sees the row before COMMIT, and COMMIT, ROLLBACK, a deadlock and a dead connection all let go of it, so
 * there is nothing that could leak into the pool. A record that is there already is locked instead, and stays as it is;
 * where it is over, and so absent, it becomes ours as if there had been none (assigned from left to right, `state` last).
 *
 * The row says `unknown`: should the work commit by itself (`create table` does), then what is committed with it says
 * what is true, even if this process dies at once. The work's own COMMIT makes no answer and frees no key.
 *
 * Named locks (`get_lock(…, 0)`) were tried. They answer as quickly (0.08 ms a refusal, the row 0.11 ms; a new key 0.87
 * ms, 1.33 ms with the row, which is written twice; MariaDB 10.11 on loopback, one caller). But they are the session's:
 * COMMIT, a deadlock and a rollback by the server leave them, a library that gives the connection back right after
 * COMMIT takes them into the pool, and whoever gives them up before COMMIT lets a second caller begin. Rows of a table
 * of locks made beforehand would be shared by keys that have nothing to do with each other.
 *
 * MariaDB refuses without a wait when told so for the statement. MySQL cannot be told, so there `probe` comes first,
 * and only who inserts in the same instant waits, for as long as `innodb_lock_wait_timeout` says.
 */
export function tryLocks(names: Names, { id, prints, label }: Identity, token: string, nowait: boolean): Statement {
  const mine = [bytes(prints[0]), bytes(token), writeLabel({ ...label, why: FOREIGN })]
  return {
    text: `${nowait ? 'set statement innodb_lock_wait_timeout = 0 for ' : ''}insert into ${names.record} (k, fingerprint, token, state, body)
values (?, ?, ?, ${STATE.unknown}, ?)
on duplicate key update fingerprint = if(${IS_OVER}, ?, fingerprint),
                        token       = if(${IS_OVER}, ?, token),
                        fence       = if(${IS_OVER}, null, fence),
                        body        = if(${IS_OVER}, ?, body),
                        state       = if(${IS_OVER}, ${STATE.unknown}, state)`,
    params: [bytes(id), ...mine, ...mine],
  }
}

/** Refused at once where another transaction has the row (3572). At READ COMMITTED a row that is not there locks nothing. */
export function probe(names: Names, id: string): Statement {
  return { text: `select 1 as there from ${names.record} where k = ? for update nowait`, params: [bytes(id)] }
}
