/** Notices a second protection around the same request: the inner one would call the outer one's own attempt a duplicate. */
import { OncekeyError } from '../core/errors.ts'

const protectedRequests = new WeakSet<object>()

/** Throws `MOUNTED_TWICE`. */
export function markProtected(identities: readonly object[], where: string): void {
  if (identities.some((one) => protectedRequests.has(one)))
    throw new OncekeyError('MOUNTED_TWICE', {
      what: 'A request is protected twice.',
      where,
      why: 'The inner protection would find the outer one at work, and answer that the operation is in progress.',
      fix: 'Mount it once: on the application or on the route.',
    })
  for (const one of identities) protectedRequests.add(one)
}

/** A request that stands for a protected one: its body was put back. */
export function alsoProtected<R extends object>(request: R): R {
  protectedRequests.add(request)
  return request
}
