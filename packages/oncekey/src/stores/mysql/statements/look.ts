/** Reads one record, to judge it by the server's clock. */
import type { Statement } from '../../database/database.ts'
import type { Names } from '../names.ts'
import { bytes } from '../values.ts'
import { columns, onPrimary } from './columns.ts'
import { IS_AT_WORK } from './holder.ts'

/** Locks nothing, so that duplicates neither wait nor write. */
export function look(names: Names, id: string): Statement {
  return {
    text: `select ${columns},
       ${onPrimary} as on_primary
  from ${names.record}
 where k = ?`,
    params: [bytes(id)],
  }
}

/**
 * The row that `tryLocks` has locked, or made (`fresh`). A locking read sees what is committed last, whatever snapshot
 * the transaction has, so that this is right at REPEATABLE READ too.
 */
export function lookLocked(names: Names, id: string, token: string): Statement {
  return {
    text: `select ${columns},
       ${onPrimary} as on_primary,
       lower(hex(?)) as opened,
       coalesce(${IS_AT_WORK} and token = ?, false) as fresh
  from ${names.record}
 where k = ?
   for update`,
    params: [bytes(token), bytes(token), bytes(id)],
  }
}
