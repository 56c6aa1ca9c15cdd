/** Takes the role again in which the transaction was opened, before the record is written (T14). */
import type { Statement } from '../../database/database.ts'

/**
 * The work may have lowered its rights with SET ROLE, and they are checked before a statement runs, so this cannot be
 * part of the insert. A statement that is always sent: whether the role changed is not to be seen from outside.
 */
export const asOpened: Statement = {
  text: "select pg_catalog.set_config('role', pg_catalog.current_setting('oncekey.role'), true)",
  params: [],
}
