/** Gives a key back: proven that nothing happened. */
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import { clock, fenceOf } from '../ends.ts'
import { isMine, mineOf, whatStands } from './mine.ts'

/** While the clock is not past the fence, the row has to stay, or the next claim could get a fence that is not higher (S3): it ends now, which reads as absent. */
export function releaseFree(record: string): (mine: Held) => Statement {
  const text = `
with ${clock}, gone as (
  delete from ${record} as r using clock
   where ${isMine} and r.fence < ${fenceOf('t')}
  returning 1
), ended as (
  update ${record} as r
     set state = ${STATE.open}, expires_at = t, lease_end = null
    from clock
   where ${isMine} and r.fence >= ${fenceOf('t')}
  returning 1
), changed as (
  select from gone union all select from ended
)${whatStands(record)}`
  return (mine) => ({ text, params: mineOf(mine) })
}
