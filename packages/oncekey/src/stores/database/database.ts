/** The port between a SQL store and the library that owns the user's transaction; about thirty lines implement it for one library. */

/** One statement with `$1`, `$2` … for its parameters, which the library made: ids, numbers, bytes, never a user's text. */
export interface Statement {
  readonly text: string
  readonly params: readonly (string | number | bigint | Uint8Array | null)[]
  /** In a transaction of its own it is to see what others have not committed yet; where that cannot be, it is told less. */
  readonly uncommitted?: true
}
export type Row = Readonly<Record<string, unknown>>

/** How a transaction ends: with statements that travel together with COMMIT, or not at all. */
export type Ending<R> =
  | {
      readonly commit: readonly Statement[]
      readonly value: R
      /** Instead, when the first statement finds the transaction aborted (25P02): there is a savepoint to go back to. */
      readonly whenAborted?: { readonly commit: readonly Statement[]; readonly value: R }
    }
  | {
      readonly rollback: true
      readonly value: R
      /** The answer waits for the rollback's: its locks are free by then, so that the next caller is not told `busy`. */
      readonly settled?: true
      /** The user's work is still running on it: the connection is destroyed and never goes back to the pool. */
      readonly destroy?: true
    }

export interface Database<Tx> {
  /** `joined`: BEGIN and the opening travel together, as do the last statements and COMMIT. `single`: one flight each. */
  readonly flights: 'joined' | 'single'
  /** The pool's size, where it can be seen. */
  readonly connections?: number
  /** One statement in its own transaction. */
  query(statement: Statement): Promise<readonly Row[]>
  /**
   * BEGIN at READ COMMITTED and READ WRITE, `opening` in order and each as its own statement, then `body`, then its
   * ending. `tx` dies when the body has settled (T7); `gone` aborts when the connection dies. A rollback is sent and
   * not waited for, unless it is to be `settled`. Rejects with `InDoubt` where COMMIT was sent and not answered, and destroys that connection;
   * every other rejection is definite: nothing was committed.
   */
  transaction<R>(
    opening: readonly Statement[],
    body: (tx: Tx, opened: readonly (readonly Row[])[], gone: AbortSignal) => Promise<Ending<R>>,
  ): Promise<R>
  /** Statements of ours on a transaction that somebody else opened (T15). */
  on(tx: Tx): (statement: Statement) => Promise<readonly Row[]>
}

const BRAND: unique symbol = Symbol.for('oncekey.in-doubt') as never

/** COMMIT was sent and not answered: nobody knows, and it must never be taken for a failure (T11). */
export class InDoubt extends Error {
  readonly [BRAND] = true

  constructor(cause: unknown) {
    super('COMMIT was sent and its answer did not come back', { cause })
    this.name = 'InDoubt'
  }
}

export function isInDoubt(error: unknown): error is InDoubt {
  return typeof error === 'object' && error !== null && (error as { [BRAND]?: unknown })[BRAND] === true
}
