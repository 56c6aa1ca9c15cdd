/** Refuses an operation inside itself (T17): locks are re-entrant, so the inner one would run as if it were the first. */
import { OncekeyError } from './errors.ts'

type Storage<T> = { getStore(): T | undefined; run<R>(store: T, callback: () => R): R }
type AsyncHooks = { AsyncLocalStorage: new <T>() => Storage<T> }
type Builtins = { getBuiltinModule?: (name: string) => unknown }
interface Running {
  readonly store: object
  readonly id: string
  readonly outer: Running | undefined
  settled: boolean
}

const hooks = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.('node:async_hooks') as
  | AsyncHooks
  | undefined
const running = hooks && new hooks.AsyncLocalStorage<Running>()

/** Runs the attempt, unless one of the same operation is still unsettled around it in this async context. */
export async function unnested<R>(store: object, id: string, attempt: () => Promise<R>): Promise<R> {
  if (!running) return attempt()
  const outer = running.getStore()
  for (let around = outer; around; around = around.outer)
    if (around.store === store && around.id === id && !around.settled) throw nested(id)
  const mine: Running = { store, id, outer, settled: false }
  try {
    return await running.run(mine, attempt)
  } finally {
    mine.settled = true
  }
}

export function nested(id: string): OncekeyError {
  return new OncekeyError('NESTED_OPERATION', {
    what: 'An operation was started inside itself.',
    where: 'once',
    why: 'The inner one would wait for the outer, or run as if the outer did not exist.',
    fix: 'Give the inner operation a scope or key of its own, or do its work in the outer one.',
    details: { id },
  })
}
