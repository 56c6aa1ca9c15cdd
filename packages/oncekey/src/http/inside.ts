/** Tells calls of the work from calls of the layers around it: an outer layer's page is not the work's answer. */

type Storage = { getStore(): unknown; run<R>(store: unknown, body: () => R): R }
type AsyncHooks = { AsyncLocalStorage: new () => Storage }
type Builtins = { getBuiltinModule?: (name: string) => unknown }

const hooks = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.('node:async_hooks') as
  | AsyncHooks
  | undefined
const storage = hooks && new hooks.AsyncLocalStorage()

export interface Inside {
  /** Whatever starts in here, also later and elsewhere, belongs to the work. */
  run<R>(body: () => R): R
  /** Does this call belong to the work? Always, where the runtime cannot tell. */
  here(): boolean
}

export function inside(): Inside {
  const token = {}
  return {
    run: (body) => (storage ? storage.run(token, body) : body()),
    here: () => storage === undefined || storage.getStore() === token,
  }
}
