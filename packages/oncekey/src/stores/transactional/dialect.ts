/** What the transaction-mode bracket needs from one SQL dialect: its statements, and how to read what they answered. */
import type { Identity } from '../../core/operation.ts'
import type { Seen } from '../../core/record.ts'
import type { Database, Row, Statement } from '../database/database.ts'
import type { RecordRow } from '../row.ts'

/** A record as it is to stand after the work. */
export interface Write {
  readonly id: string
  readonly print: string
  readonly state: number
  readonly body: Uint8Array
  /** From the opening: proves that it is still the transaction that was opened (T3). */
  readonly opened: string
  /** Until its end; for `unknown`, until the downstream forgets, or null. */
  readonly keepMs: number | null
  /** Finished: how much longer a tombstone stays, or null; its end is the row's second one. */
  readonly tombstoneMs: number | null
  /** An end that the replaced row has stays (`unknown`: the first claim counts). */
  readonly carries: boolean
}
export interface Abandoned {
  readonly id: string
  readonly body: Uint8Array
}
/** The row that was judged replaceable, as the statement has to find it again. */
export type Replaced = Pick<RecordRow, 'state' | 'fence' | 'token'>

export interface Asked {
  readonly identity: Identity
  /** Nothing where the transaction is the caller's own: its limits are the caller's too. */
  readonly workMs: number | undefined
  readonly savepoint: boolean
}

/** `unsure`: the key's lock is taken, and its owner's mark did not say by whom. */
export type LockState = 'mine' | 'same' | 'unsure'

/** What the first flight answered. */
export interface Opened {
  readonly lock: LockState
  readonly seen: Seen
  readonly row: RecordRow | undefined
  readonly opened: string
  readonly isolation: string
  readonly writable: boolean
}

/**
 * What an error of the last flight means. `raced`: our statement met another record. `foreign`: the work has ended our
 * transaction by itself. `aborted`: the work returned on a failed transaction. `users`: the user's own, at COMMIT.
 * `denied`: the role may not write our tables. `no-transaction`: a savepoint was asked for where no transaction is open.
 * `locked`: somebody else has the key, where the record itself is its lock.
 */
export type Failure = 'locked' | 'raced' | 'foreign' | 'aborted' | 'no-transaction' | 'denied' | 'users' | 'other'

export interface Dialect {
  readonly name: string
  /** What `holder` says is true at that instant, and needs no second look. */
  readonly holderIsExact?: true
  /** A savepoint in front of the work, given up by `restore`, proves that it is still the same transaction (T3): always sent. */
  readonly provenBySavepoint?: true
  /** Asked once; throws `SCHEMA_MISSING`, `SCHEMA_TOO_NEW` or `SCHEMA_MISMATCH`. */
  check<Tx>(database: Database<Tx>): Promise<void>
  opening(asked: Asked): readonly Statement[]
  read(answers: readonly (readonly Row[])[]): Opened
  look(id: string): Statement
  /** `primary` false: a copy that may lag, so that nothing may be decided by it. */
  readLook(rows: readonly Row[]): { readonly seen: Seen; readonly primary: boolean }
  holder(identity: Identity): Statement
  readHolder(rows: readonly Row[]): 'same' | 'other' | 'nobody'
  insert(write: Write): Statement
  replace(write: Write, seen: Replaced): Statement
  writeUnknown(abandoned: Abandoned, seen: Replaced): Statement
  /** Sent before a record is written on a transaction that the work has used. */
  readonly restore: readonly Statement[]
  /** Back to before the work. */
  readonly undo: Statement
  failure(error: unknown): Failure
  readonly within: Within
}

/** Statements for joining a transaction that the caller owns (T15). */
export interface Within {
  readonly begin: Statement
  readonly undo: readonly Statement[]
  readonly end: Statement
  readonly savepoint: Statement
  readonly undoWork: Statement
  /** Fails, so that nothing can be committed any more. */
  readonly poison: Statement
}
