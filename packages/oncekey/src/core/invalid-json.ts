/** The error of a body that two readers could take for two different values. */
import { OncekeyError } from './errors.ts'

export function invalidJson(fault: string, cause?: unknown): OncekeyError {
  return new OncekeyError('INVALID_JSON', {
    what: `The body ${fault}.`,
    where: 'canonicalJson',
    why: 'Two readers could take it for two different requests, so it cannot be compared with a repeat.',
    fix: 'Send one JSON value in UTF-8, with each member named once.',
    ...(cause === undefined ? {} : { cause }),
    details: { fault },
  })
}
