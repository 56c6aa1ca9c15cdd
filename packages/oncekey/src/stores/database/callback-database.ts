/** The port over a library that owns BEGIN and COMMIT and lends its transaction to a callback: one flight for each step (T5). */
import { type Database, type Ending, InDoubt, type Row, type Statement } from './database.ts'
import type { Guarded } from './guard.ts'
import { COMMIT_MS } from './joined.ts'
import { sqlState } from './sql-state.ts'

export interface CallbackLibrary<Tx> {
  /** BEGIN at READ COMMITTED and READ WRITE, `callback`, COMMIT; ROLLBACK when it rejects. Never runs it twice. */
  begin<R>(callback: (tx: Tx) => Promise<R>): Promise<R>
  /** One statement of ours; in a transaction of its own where there is no `tx`. */
  execute(tx: Tx | undefined, statement: Statement): Promise<readonly Row[]>
  /** A handle that dies with the work. */
  guard(tx: Tx): Guarded<Tx>
  /** Aborts when the connection of `tx` dies, where the library lets that be seen. */
  gone?(tx: Tx): AbortSignal
  readonly connections?: number
  /** How long COMMIT may take before it counts as in doubt. Default 10,000. */
  readonly commitMs?: number
}

/** Thrown into the library so that it rolls back. */
class Undo extends Error {
  readonly value: unknown

  constructor(value: unknown) {
    super('oncekey asked for a rollback')
    this.name = 'Undo'
    this.value = value
  }
}

export function callbackDatabase<Tx>(library: CallbackLibrary<Tx>): Database<Tx> {
  const { connections, commitMs = COMMIT_MS } = library

  function transaction<R>(
    opening: readonly Statement[],
    body: (tx: Tx, opened: readonly (readonly Row[])[], gone: AbortSignal) => Promise<Ending<R>>,
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      let begun = false
      let committing = false
      // Kept here, because libraries wrap what is thrown through them.
      let undoing: Undo | undefined

      async function inside(tx: Tx): Promise<R> {
        // A library that tries again by itself would run the work again.
        if (begun) throw new TypeError('the library ran the transaction a second time')
        begun = true
        const opened: (readonly Row[])[] = []
        for (const statement of opening) opened.push(await library.execute(tx, statement))
        const gone = library.gone?.(tx) ?? new AbortController().signal
        const { tx: lent, close } = library.guard(tx)
        const ending = await body(lent, opened, gone).finally(close)
        if ('rollback' in ending) {
          if (!ending.settled) resolve(ending.value)
          undoing = new Undo(ending.value)
          throw undoing
        }
        const value = await write(tx, ending)
        committing = true
        timer = setTimeout(() => reject(new InDoubt(new Error(`no answer in ${commitMs} ms`))), commitMs)
        return value
      }
      function failed(error: unknown): void {
        if (undoing) resolve(undoing.value as R)
        else reject(committing && !isDefinite(error) ? new InDoubt(error) : error)
      }
      library
        .begin(inside)
        .then(resolve, failed)
        .finally(() => clearTimeout(timer))
    })
  }

  async function write<R>(tx: Tx, ending: Extract<Ending<R>, { commit: unknown }>): Promise<R> {
    try {
      for (const statement of ending.commit) await library.execute(tx, statement)
      return ending.value
    } catch (error) {
      if (sqlState(error) !== '25P02' || !ending.whenAborted) throw error
      return write(tx, ending.whenAborted)
    }
  }

  return {
    flights: 'single',
    ...(connections === undefined ? {} : { connections }),
    query: (statement) => library.execute(undefined, statement),
    on: (tx) => (statement) => library.execute(tx, statement),
    transaction,
  }
}

/** At COMMIT only an ERROR of the server is definite; a lost connection, a shutdown or a broken server is not. */
function isDefinite(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && !/^(08|57P|58|XX)/.test(state)
}
