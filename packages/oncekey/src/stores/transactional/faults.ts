/** The errors that a transaction-mode attempt ends with, in words. */
import { OncekeyError } from '../../core/errors.ts'

export function unavailable(where: string, what: string, cause?: unknown): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what,
    where,
    why: 'Without the store nobody can tell if this operation ran before, so the work did not run.',
    fix: 'Send it again with the same key when the database answers.',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function tryAgain(where: string, what: string, cause?: unknown): OncekeyError {
  return new OncekeyError('TRY_AGAIN', {
    what,
    where,
    why: 'Everything that it wrote was rolled back and the key is free.',
    fix: 'Send it again with the same key.',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function commitUnknown(where: string, cause: unknown): OncekeyError {
  return new OncekeyError('COMMIT_UNKNOWN', {
    what: 'COMMIT was sent, its answer did not come back, and the database could not tell in time what became of it.',
    where,
    why: 'The work may have happened. Treating it as failed could do it twice.',
    fix: 'Send it again with the same key: it gets the kept answer if it happened, and runs if it did not.',
    cause,
  })
}

export function outcomeUnknown(where: string, cause: unknown): OncekeyError {
  return new OncekeyError('OUTCOME_UNKNOWN', {
    what: 'The work ended the transaction of its operation by itself.',
    where,
    why: 'What it wrote may be there without its answer, so it is never run again until somebody settles it.',
    fix: 'Settle the record, and take COMMIT, ROLLBACK and connection control out of the work.',
    cause,
  })
}

export function aborted(where: string, cause: unknown): OncekeyError {
  return new OncekeyError('TX_ABORTED', {
    what: 'The work returned a value although a statement of its transaction had failed.',
    where,
    why: 'The database undoes everything in a failed transaction, so there was nothing to keep. The key is free.',
    fix: 'Let the error out of the work, put the statement that may fail behind a savepoint, or set `discardable`.',
    cause,
  })
}

export function wrongIsolation(where: string, isolation: string): OncekeyError {
  return new OncekeyError('TX_ISOLATION', {
    what: `The transaction is ${isolation}, not read committed.`,
    where,
    why: 'With one snapshot for all statements the look behind the lock sees an old table, and the work could begin twice.',
    fix: 'Open the transaction with ISOLATION LEVEL READ COMMITTED.',
  })
}

export function noTransaction(where: string, cause: unknown): OncekeyError {
  return new OncekeyError('TX_CLOSED', {
    what: '`within` was given a connection on which no transaction is open.',
    where,
    why: 'Without one the locks are gone with the statement that takes them, and the work could run twice.',
    fix: 'Send BEGIN first, and pass the handle of that transaction; or leave `within` out, and let the store open it.',
    cause,
  })
}

export function childKeyUnsafe(where: string): OncekeyError {
  return new OncekeyError('CHILD_KEY_UNSAFE', {
    what: 'A key for a foreign call was asked for in transaction mode.',
    where,
    why: 'A rollback leaves no trace of the call, so nothing would hold or take over what it did.',
    fix: "Use lease mode (`mode: 'lease'`) or phases for foreign calls; or say `downstreamDedupes({ for })` in the policy's `after`.",
  })
}

export function closed(where: string): OncekeyError {
  return new OncekeyError('STORE_CLOSED', {
    what: 'The store is shutting down.',
    where,
    why: 'It claims nothing any more, so the work did not run.',
    fix: 'Send it to another process, or make a new store.',
  })
}
