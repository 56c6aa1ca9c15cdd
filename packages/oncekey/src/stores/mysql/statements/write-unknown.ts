/** Ends a claim whose owner is gone, where nobody may take it over: the outcome is unknown until somebody settles it. */
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import type { Abandoned } from '../../transactional/dialect.ts'
import type { Names } from '../names.ts'
import { bytes } from '../values.ts'
import { DEDUPES_UNTIL } from './ends.ts'

/** Token and fence stay, so that the owner, should it live, may still complete. The row is locked since it was judged. */
export function writeUnknown({ record }: Names, { id, body }: Abandoned): Statement {
  return {
    text: `update ${record}
   set expires_at = ${DEDUPES_UNTIL},
       lease_end  = null,
       state      = ${STATE.unknown},
       body       = ?
 where k = ?`,
    params: [body, bytes(id)],
  }
}
