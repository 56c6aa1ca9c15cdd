/** The three flights of a transaction over one connection: BEGIN and the opening, the work, the last statements and COMMIT (T5). */
import { type Ending, InDoubt, type Row, type Statement } from './database.ts'
import type { Guarded } from './guard.ts'
import { sqlState } from './sql-state.ts'

/** Statements that travel together, in this order. */
export interface Flight {
  readonly first?: string
  readonly statements?: readonly Statement[]
  readonly last?: string
}
export interface Flown {
  /** For each of `statements`. */
  readonly rows: readonly (readonly Row[])[]
  /** The tag of the last command. */
  readonly command: string | undefined
}

/** A connection while a transaction of ours has it. */
export interface Line<Tx> {
  /** Aborts when the connection dies. */
  readonly gone: AbortSignal
  fly(flight: Flight): Promise<Flown>
  /** The user's own handle on it. */
  lend(): Guarded<Tx>
  /**
   * Only where a flight goes on behind a statement that failed, so that COMMIT ends an aborted transaction before
   * anything can be undone: true when a statement of the work has failed on it.
   */
  suspect?(): boolean
  /** The last flight failed: whether the server refused it with an ERROR, so that nothing was committed. */
  refused(error: unknown): Promise<boolean>
  release(): void
  destroy(reason: unknown): void
}

const READ_ONLY = '25006'
export const BEGIN = 'begin isolation level read committed read write'
/** Longer than a busy disk or a synchronous standby takes; past it the answer is looked up on another connection. */
export const COMMIT_MS = 10_000

export async function joined<Tx, R>(
  line: Line<Tx>,
  opening: readonly Statement[],
  body: (tx: Tx, opened: readonly (readonly Row[])[], gone: AbortSignal) => Promise<Ending<R>>,
): Promise<R> {
  let ending: Ending<R>
  try {
    const { rows } = await line.fly({ first: BEGIN, statements: opening })
    const { tx, close } = line.lend()
    ending = await body(tx, rows, line.gone).finally(close)
  } catch (error) {
    void rollback()
    throw error
  }
  if (!('rollback' in ending)) return commit(ending)
  if (ending.destroy) line.destroy(new Error('the work is still running on this connection'))
  else {
    const done = rollback()
    if (ending.settled) await done
  }
  return ending.value

  async function commit({ commit: statements, value, whenAborted }: Committing<R>): Promise<R> {
    if (line.gone.aborted) {
      line.destroy(line.gone.reason)
      throw new Error('the connection was lost before COMMIT was sent', { cause: line.gone.reason })
    }
    let sent = false
    let command: string | undefined
    try {
      if (whenAborted && line.suspect?.()) await line.fly({ first: 'select 1' })
      sent = true
      command = (await line.fly({ statements, last: 'commit' })).command
    } catch (error) {
      const stillOpen = !sent || line.suspect === undefined
      if (whenAborted && stillOpen && sqlState(error) === '25P02') return commit(whenAborted)
      if (!(await line.refused(error))) {
        line.destroy(error)
        throw new InDoubt(error)
      }
      line.release()
      throw error
    }
    line.release()
    if (command === 'COMMIT') return value
    throw new Error(`COMMIT was answered with ${command}`)
  }

  /** Never rejects; the connection goes back to its pool when the answer is there. */
  async function rollback(): Promise<void> {
    if (line.gone.aborted) line.destroy(line.gone.reason)
    else await line.fly({ first: 'rollback' }).then(() => line.release(), line.destroy)
  }
}

/**
 * One statement in its own transaction, also where the database or the role prefers READ ONLY: refused there, it was
 * not carried out, and is sent once more together with the permission to write. `ask` sends texts of several statements.
 */
export async function writing<R>(statement: Statement, ask: (statement: Statement) => Promise<R>): Promise<R> {
  try {
    return await ask(statement)
  } catch (error) {
    if (sqlState(error) !== READ_ONLY) throw error
    return ask({ ...statement, text: `set transaction read write;\n${statement.text}` })
  }
}

/** A line whose endings are answered in time or fail: nobody waits for a connection that has fallen silent. */
export function inTime<Tx>(line: Line<Tx>, ms: number): Line<Tx> {
  return {
    ...line,
    async fly(flight) {
      const ends = flight.last === 'commit' || flight.first === 'rollback'
      if (!ends) return line.fly(flight)
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms)
      })
      return Promise.race([line.fly(flight), late]).finally(() => clearTimeout(timer))
    },
  }
}

type Committing<R> = Pick<Extract<Ending<R>, { commit: unknown }>, 'commit' | 'value' | 'whenAborted'>
