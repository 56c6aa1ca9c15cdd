/** The error that `begin()` throws where the claim is no longer its caller's. */
import { OncekeyError } from '../../core/errors.ts'

export function claimLost(where: string, id: string): OncekeyError {
  return new OncekeyError('LEASE_LAPSED', {
    what: 'begin() was called for a claim that is no longer ours.',
    where,
    why: 'Somebody else is at work on this operation, or has ended it; what would be written here must not stand.',
    fix: 'Let the error leave the work: the caller gets the answer of the record.',
    details: { id },
  })
}
