/** What schema and what server this is, asked once when a store is first used (I4). */
import type { Statement } from '../../database/database.ts'
import type { Names } from '../names.ts'

export function askSchema(names: Names): Statement {
  return {
    text: `select identity_scheme,
       min_reader,
       lower(hex(epoch))                                           as epoch,
       cast(restored_at as char)                                   as restored_us,
       on_epoch_change,
       (select coalesce(max(version), 0) from ${names.migration})  as version,
       version()                                                   as server,
       @@session.autocommit                                        as autocommit,
       @@global.innodb_flush_log_at_trx_commit                     as flush
  from ${names.meta}`,
    params: [],
  }
}
