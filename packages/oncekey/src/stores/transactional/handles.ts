/** Which operations run on which transaction: inside one, its locks are re-entrant, so the same operation is refused (T17). */
import { nested } from '../../core/nesting.ts'

export interface Handles {
  /** Throws `NESTED_OPERATION`; the function that it returns ends it. */
  enter(tx: unknown, id: string): () => void
}

export function handles(): Handles {
  const running = new WeakMap<object, Set<string>>()
  return {
    enter(tx, id) {
      if ((typeof tx !== 'object' && typeof tx !== 'function') || tx === null) return () => {}
      const ids = running.get(tx) ?? new Set()
      if (ids.has(id)) throw nested(id)
      running.set(tx, ids.add(id))
      return () => ids.delete(id)
    },
  }
}
