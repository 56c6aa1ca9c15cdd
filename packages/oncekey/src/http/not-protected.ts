/** What stands in for the grant of a request that is not protected: whoever leans on it is told so. */
import { OncekeyError } from '../core/errors.ts'
import type { Grant } from '../core/store.ts'

const standIns = new WeakSet<object>()

/** Has a signal that never aborts; asking it for anything else, such as `tx`, throws `NOT_PROTECTED`. */
export function notProtected<G extends Grant>(): G {
  const { signal } = new AbortController()
  const standIn = new Proxy({} as G, {
    get(_, name) {
      if (name === 'signal') return signal
      if (typeof name === 'symbol' || name === 'then') return undefined
      throw notProtectedError(name)
    },
  })
  standIns.add(standIn)
  return standIn
}

/** False on a safe method, on a route with an optional key that came without one, and where `protect` said no. */
export function isProtected(grant: Grant | undefined): boolean {
  return grant !== undefined && !standIns.has(grant)
}

export function notProtectedError(name: string): OncekeyError {
  return new OncekeyError('NOT_PROTECTED', {
    what: `\`${name}\` was asked of a request that is not protected.`,
    where: 'grant',
    why: 'It came without a key to a route that does not require one, or with a safe method; its work would not be remembered.',
    fix: 'Require the key, or ask `isProtected(grant)` first.',
  })
}
