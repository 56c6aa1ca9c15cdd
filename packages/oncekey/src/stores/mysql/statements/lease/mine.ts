/** What the later writes of an owner have in common: a compare-and-set on token and fence. */
import type { Held } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import { bytes } from '../../values.ts'
import { IS_UNENDED } from '../ends.ts'

/** The record is still the caller's own; a lease that ran out refuses nothing by itself. */
export const IS_MINE = `k = ? and token = ? and fence = ? and ${IS_UNENDED}`

export function mineOf({ id, token, fence }: Held): Statement['params'] {
  return [bytes(id), bytes(token), Number(fence)]
}
