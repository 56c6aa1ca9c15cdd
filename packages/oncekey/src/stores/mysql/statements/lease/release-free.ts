/** Gives a key back: proven that nothing happened. */
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { NOW } from '../columns.ts'
import { IS_MINE, mineOf } from './mine.ts'

/** Only past the fence, or the next claim could get one that is not higher (S3). */
export function releaseFree({ record }: Names, mine: Held): Statement {
  return { text: `delete from ${record} where ${IS_MINE} and fence < ${NOW}`, params: mineOf(mine) }
}

/** Until then the row has to stay: it ends now, which reads as absent. */
export function endNow({ record }: Names, mine: Held): Statement {
  return {
    text: `update ${record}
   set expires_at = ${NOW}, lease_end = null, state = ${STATE.open}
 where ${IS_MINE} and fence >= ${NOW}`,
    params: mineOf(mine),
  }
}
