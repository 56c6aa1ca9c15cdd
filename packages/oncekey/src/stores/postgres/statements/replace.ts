/** Writes the record of an operation over the one that was judged replaceable. */
import type { Statement } from '../../database/database.ts'
import type { Replaced, Write } from '../../transactional/dialect.ts'
import type { Names } from '../names.ts'
import { END, params, proven, REPLACED, tombstoneEnd, tombstoneParams } from './written.ts'

/**
 * Exactly that one: its state, fence and token, and that its end or lease is still past. Without the end, a lease
 * caller's live record was overwritten and the customer charged twice. No row is an error, since COMMIT travels with it.
 * The proof is judged first: whose transaction has ended by itself must not be told that it lost a race.
 * What the downstream deduplicates until is carried over into `unknown` (the first claim counts).
 */
export function replace(names: Names, write: Write, seen: Replaced): Statement {
  return {
    text: `with replaced as (
  update ${names.record}
     set fingerprint = $2::uuid,
         expires_at  = ${write.carries ? `coalesce(case when state = 3 then lease_end when state in (1, 2) then expires_at end, ${END})` : END},
         lease_end   = ${tombstoneEnd(write, '$10')},
         fence       = null,
         token       = null,
         state       = $3::smallint,
         body        = $4::bytea
   where k = $1::uuid
     and state = $7::smallint
     and fence is not distinct from $8::bigint
     and token is not distinct from $9::uuid
     and (state not in (4, 5) or coalesce(lease_end, expires_at) <= pg_catalog.clock_timestamp())
     and (state not in (1, 2) or lease_end <= pg_catalog.clock_timestamp())
  returning 1)
select ${proven('$5', `case when pg_catalog.count(*) = 1 then '1' else '${REPLACED} ' || pg_catalog.now() end`)}
  from replaced`,
    params: [...params(write), seen.state, seen.fence, seen.token, ...tombstoneParams(write)],
  }
}
