/** What every store's grant has in common. */
import { childKeyOf, type Operation } from './operation.ts'
import type { Grant, How } from './store.ts'

export interface GrantParts {
  readonly operation: Operation
  readonly id: string
  readonly how: How
  readonly signal: AbortSignal
  /** Throws where no foreign call may start now. */
  readonly mayCall: () => void
}

export function grantOf({ operation, id, how, signal, mayCall }: GrantParts): Grant {
  return {
    operation,
    signal,
    childKey(step, form) {
      mayCall()
      return childKeyOf(id, step, how.namespace, form)
    },
  }
}
