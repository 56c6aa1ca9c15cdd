/** The errors that transaction mode throws, each with its four parts. */
import { OncekeyError } from '../../core/errors.ts'

export function overran(where: string, workMs: number): OncekeyError {
  return new OncekeyError('TRY_AGAIN', {
    what: `The work took longer than ${workMs} ms and was rolled back.`,
    where,
    why: 'Its transaction kept every other writer of the file waiting.',
    fix: 'Send the same key again. Heed `grant.signal`, keep foreign calls out of transaction mode, or give a longer `work`.',
    details: { workMs },
  })
}

export function rolledBack(where: string, cause: unknown): OncekeyError {
  return new OncekeyError('TRY_AGAIN', {
    what: 'The operation could not be committed and was rolled back; its key is free.',
    where,
    why: 'Neither what the work wrote nor its answer is there.',
    fix: 'Send the same key again; see `cause` for what SQLite said.',
    cause,
  })
}

export function aborted(where: string): OncekeyError {
  return new OncekeyError('TX_ABORTED', {
    what: 'SQLite rolled the transaction back while the work ran, and the work returned as if it stood.',
    where,
    why: 'After `on conflict rollback`, `raise(rollback)` or a full disk nothing of the transaction is left; later writes stood alone or failed.',
    fix: 'Let the error of the statement leave the work, or use a savepoint around what may fail. The key is free.',
  })
}

export function endedByWork(where: string, id: string): OncekeyError {
  return new OncekeyError('OUTCOME_UNKNOWN', {
    what: 'The transaction of the operation was committed from outside before its work had ended.',
    where,
    why: 'A part of what it did may stand without its answer; running it again could do that part twice.',
    fix: 'Look what it did and settle the record. Only the store may end this transaction.',
    details: { id },
  })
}

export function commitUnknown(where: string, cause: unknown): OncekeyError {
  return new OncekeyError('COMMIT_UNKNOWN', {
    what: 'SQLite failed in COMMIT, and the file could not be read afterwards.',
    where,
    why: 'The operation may have been committed or not; an answer now would be a guess.',
    fix: 'Send the same key again: its record will tell.',
    cause,
  })
}

export function childKeyUnsafe(where: string): OncekeyError {
  return new OncekeyError('CHILD_KEY_UNSAFE', {
    what: 'A child key was asked for in transaction mode.',
    where,
    why: 'A rolled back transaction leaves no trace of the foreign call that was made inside it.',
    fix: 'Use lease mode (`mode: "lease"`), or say that the downstream deduplicates: `after: downstreamDedupes({ for: "24h" })`.',
  })
}
