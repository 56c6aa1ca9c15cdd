/** Whose claim a statement is about: lease mode has a fence, transaction mode needs none under the write lock. */
import type { Owned } from '../../../core/store.ts'
import type { Param } from '../sql.ts'
import { bytes } from '../sql.ts'

export interface Mine extends Owned {
  readonly fence: bigint | null
}

/** ?1 to ?3 of every statement that asks for `IS_MINE`. */
export function mineOf({ id, token, fence }: Mine): readonly Param[] {
  return [bytes(id), bytes(token), fence]
}
