/** The errors that the lease bracket throws, each with its four parts. */
import { OncekeyError } from '../../core/errors.ts'

export function storeUnavailable(store: string, cause?: unknown): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: 'The store did not answer the claim in time.',
    where: store,
    why: 'Without a claim nothing may run; the work did not run and will not.',
    fix: 'Answer 503 with Retry-After; the same key may be sent again. See `cause` for what the store said.',
    cause,
  })
}

export function outcomeUnknown(store: string, id: string, why: string): OncekeyError {
  return new OncekeyError('OUTCOME_UNKNOWN', {
    what: `Nobody can say yet how the operation ended: ${why}.`,
    where: store,
    why: 'The work may have taken effect; an answer now would be a guess, and a second run could do it twice.',
    fix: 'Repeat with the same key, or look the record up and settle it.',
    details: { id, reason: why },
  })
}

export function leaseLapsed(store: string, id: string): OncekeyError {
  return new OncekeyError('LEASE_LAPSED', {
    what: 'The lease of this claim has run out without a beat.',
    where: store,
    why: 'Somebody else may be at work by now; a foreign call or a transaction started here could do the work twice.',
    fix: 'Let the work throw. Where the event loop is blocked or the store is slow, give a longer `lease`.',
    details: { id },
  })
}

export function executionLive(store: string, id: string): OncekeyError {
  return new OncekeyError('EXECUTION_LIVE', {
    what: 'This execution is already at work on this operation in this process.',
    where: store,
    why: 'An execution may enter again after it was interrupted; two live callers under one name would both own the claim.',
    fix: 'Give each concurrent caller an `execution` of its own, or none.',
    details: { id },
  })
}

export function storeClosed(store: string): OncekeyError {
  return new OncekeyError('STORE_CLOSED', {
    what: 'The store is closing or closed.',
    where: store,
    why: 'A claim made now could be left behind by the process that made it.',
    fix: 'Stop taking requests before the store is disposed.',
  })
}

export function overran(store: string, workMs: number): OncekeyError {
  return new OncekeyError('OUTCOME_UNKNOWN', {
    what: `The work took longer than ${workMs} ms.`,
    where: store,
    why: 'Nobody holds a key for ever: its record is unknown until the work returns after all, or somebody settles it.',
    fix: 'Heed `grant.signal`, or give a longer `work` in the policy.',
    details: { workMs },
  })
}

export function ownershipLost(store: string, id: string): OncekeyError {
  return new OncekeyError('LEASE_LAPSED', {
    what: 'This claim is no longer ours: it was taken over, or its record is gone.',
    where: store,
    why: 'Nothing that this attempt does can be kept; the caller gets the answer of the record.',
    fix: 'End the work as soon as its signal aborts.',
    details: { id },
  })
}
