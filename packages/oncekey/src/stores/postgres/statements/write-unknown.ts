/** Ends a claim whose owner is gone, where nobody may take it over: the outcome is unknown until somebody settles it. */
import type { Statement } from '../../database/database.ts'
import type { Abandoned, Replaced } from '../../transactional/dialect.ts'
import type { Names } from '../names.ts'
import { REPLACED } from './written.ts'

/**
 * Token and fence stay, so that the owner, should it live, may still complete. Only where it is the row that was judged
 * and its lease is still past; else an error, and the caller looks again.
 */
export function writeUnknown(names: Names, { id, body }: Abandoned, seen: Replaced): Statement {
  return {
    text: `with abandoned as (
  update ${names.record}
     set expires_at = case when state = 3 then lease_end else expires_at end,
         lease_end  = null,
         state      = 6,
         body       = $2::bytea
   where k = $1::uuid
     and state = $3::smallint
     and fence is not distinct from $4::bigint
     and token is not distinct from $5::uuid
     and (state = 3 or lease_end <= clock_timestamp())
  returning 1)
select case when count(*) = 1 then '1' else '${REPLACED} ' || now() end::smallint
  from abandoned`,
    params: [id, body, seen.state, seen.fence, seen.token],
  }
}
