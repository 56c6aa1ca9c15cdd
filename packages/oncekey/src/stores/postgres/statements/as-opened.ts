/** Takes the role again in which the transaction was opened, before the record is written (T14). */
import type { Statement } from '../../database/database.ts'

/**
 * The work may have lowered its rights with SET ROLE, and they are checked before a statement runs, so this cannot be
 * part of the insert. A statement that is always sent: whether the role changed is not to be seen from outside.
 * Where the work has ended our transaction nothing is written down any more; then it does nothing, and the proof in the
 * statement behind it says so.
 */
export const asOpened: Statement = {
  text: `select pg_catalog.set_config('role', coalesce(nullif(pg_catalog.current_setting('oncekey.role', true), ''),
                                              pg_catalog.current_setting('role')), true)`,
  params: [],
}
