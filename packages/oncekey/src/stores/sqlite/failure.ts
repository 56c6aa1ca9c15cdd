/** What a SQLite library's error means: three libraries, three spellings, one word. */
import { isOncekeyError, OncekeyError } from '../../core/errors.ts'

/** The primary result codes that are told apart here (sqlite.org/rescode.html). */
const RESULTS: Readonly<Record<number, string>> = {
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  19: 'CONSTRAINT',
  26: 'NOTADB',
}

/** `BUSY` of `SQLITE_BUSY_SNAPSHOT`, 517 or "database is locked"; nothing where the error is none of SQLite's. */
export function resultOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, rawCode, errcode, message } = error as Record<string, unknown>
  const number = typeof errcode === 'number' ? errcode : rawCode
  if (typeof number === 'number') return RESULTS[number & 0xff] ?? 'ERROR'
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return code.split('_')[1]
  // libsql wraps what happens while it opens a file in a plain Error that ends in the number.
  const opening = typeof message === 'string' ? /^ConnectionFailed\(.*: (\d+)"\)$/.exec(message) : undefined
  return opening ? (RESULTS[Number(opening[1]) & 0xff] ?? 'ERROR') : undefined
}

/** Another connection is at it: the same statement succeeds a little later. */
export function isBusy(error: unknown): boolean {
  const result = resultOf(error)
  return result === 'BUSY' || result === 'LOCKED'
}

const FIXES: Readonly<Record<string, string>> = {
  BUSY: 'Find who holds the write lock: a transaction left open, a slow one, or a tool with the file open. `lockMs` says how long to wait.',
  READONLY: 'Let this process write the file and its folder (the -wal and -shm files stand beside it).',
  IOERR: 'Look at the disk and its mount; SQLite needs a local file system with working locks.',
  CORRUPT: 'Stop writing, keep a copy of the file with its -wal and -shm, and restore or `.recover` it.',
  FULL: 'Make room on the disk, or raise `max_page_count`.',
  CANTOPEN: 'Create the folder, and let this process read and write it.',
  NOTADB: 'Give the path of a SQLite database, or of a file that does not exist yet.',
}

/** `STORE_UNAVAILABLE`: the work did not run, and the key is as it was. Our own errors pass. */
export function unavailable(cause: unknown, where: string): OncekeyError {
  if (isOncekeyError(cause)) return cause
  const result = resultOf(cause)
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: `SQLite cannot serve this now${result ? ` (SQLITE_${result})` : ''}.`,
    where,
    why: 'Without its record nobody can say whether the operation ran before, so it does not run now.',
    fix: FIXES[result ?? ''] ?? 'Read the cause; the same key may be sent again.',
    cause,
    ...(result ? { details: { result } } : {}),
  })
}

/** `lockMs` went by in the queue or at the write lock. */
export function lockTimeout(lockMs: number, where: string, cause?: unknown): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: `The write lock of the file did not come free within ${lockMs} ms.`,
    where,
    why: 'A SQLite file has one writer at a time, and waiting longer than the caller would help nobody.',
    fix: `${FIXES.BUSY} Work inside an operation holds it too: keep foreign calls out of transaction mode.`,
    cause,
    details: { result: 'BUSY', lockMs },
  })
}
