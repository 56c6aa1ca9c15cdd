/** What schema this is and whether its records were restored, asked when a store is first used and by each sweep (I4). */
import type { Statement } from '../../database/database.ts'
import type { Names } from '../names.ts'
import { microseconds } from './columns.ts'

/** Through json: of a schema that is a version behind, a column that is not there yet is null and no error. */
export function askSchema(names: Names): Statement {
  const later = (column: string) => `to_jsonb(m) ->> '${column}'`
  return {
    text: `select identity_scheme,
       min_reader,
       epoch::text                                                  as epoch,
       ${microseconds(`(${later('restored_at')})::timestamptz`)}    as restored_us,
       ${later('on_epoch_change')}                                  as on_epoch_change,
       (select coalesce(max(version), 0) from ${names.migration})   as version,
       current_setting('server_version_num')::int >= 140000         as checks_client
  from ${names.meta} as m`,
    params: [],
  }
}
