/** What schema this is, asked once when a store is first used (I4). */
import type { Statement } from '../../database/database.ts'
import type { Names } from '../names.ts'

export function askSchema(names: Names): Statement {
  return {
    text: `select identity_scheme,
       min_reader,
       epoch::text                                                  as epoch,
       (select coalesce(max(version), 0) from ${names.migration})   as version,
       current_setting('server_version_num')::int >= 140000         as checks_client
  from ${names.meta}`,
    params: [],
  }
}
