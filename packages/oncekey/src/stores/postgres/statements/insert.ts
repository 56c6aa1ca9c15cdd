/** Writes the record of an operation that had none. */
import type { Statement } from '../../database/database.ts'
import type { Write } from '../../transactional/dialect.ts'
import type { Names } from '../names.ts'
import { END, params, proven, tombstoneEnd, tombstoneParams } from './written.ts'

/**
 * COMMIT travels with it, so whatever is wrong must be an error here. The primary key is the guarantee: whoever got
 * past the locks all the same ends in 23505. No `on conflict`: a conflict has to undo the work.
 */
export function insert(names: Names, write: Write): Statement {
  return {
    text: `insert into ${names.record} (k, fingerprint, expires_at, lease_end, fence, token, state, body)
values ($1::uuid, $2::uuid, ${END}, ${tombstoneEnd(write, '$7')}, null, null,
        ${proven('$5', '$3')}, $4::bytea)`,
    params: [...params(write), ...tombstoneParams(write)],
  }
}
