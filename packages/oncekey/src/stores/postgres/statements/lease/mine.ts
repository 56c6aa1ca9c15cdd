/** What the later writes of an owner have in common: a compare-and-set on token and fence, and the record that stood in its way. */
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { columns } from '../columns.ts'
import { isUnended } from '../ends.ts'

/** `r` is still the caller's own. `$1` to `$3` of every such statement; a lease that ran out refuses nothing by itself. */
export const isMine = `r.k = $1::uuid and r.token = $2::uuid and r.fence = $3::bigint and ${isUnended('r')}`

export const mineOf = ({ id, token, fence }: Held): Statement['params'] => [id, token, fence]

/**
 * Ends a statement whose CTE `changed` has one row where the write was done. The record beside it is as our snapshot
 * has it, from before the write; where the write had to wait for another, it may still show the claim as ours, and
 * the caller runs the statement again.
 */
export const whatStands = (record: string, condition = isMine) => `
select ${columns},
       exists (select from changed) as done, (${condition}) is true as mine
  from clock left join ${record} as r on r.k = $1::uuid`
