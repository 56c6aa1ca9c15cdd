/** The error of a body that is larger than a route takes; every adapter reads bodies with a bound. */
import { OncekeyError } from '../core/errors.ts'

export function requestTooLarge(limit: number, where: string): OncekeyError {
  return new OncekeyError('REQUEST_TOO_LARGE', {
    what: `The body of a protected request is larger than ${limit} bytes.`,
    where,
    why: 'It is read whole before the work, to be compared with what the key was used for before.',
    fix: 'Send less, or raise `maxBodyBytes` on the route.',
    details: { limit },
  })
}
