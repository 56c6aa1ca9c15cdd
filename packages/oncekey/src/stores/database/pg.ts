/** The port over `pg` as everybody has it: each flight is one query of several statements, and takes one round trip. */
import type { Database, Ending, Row, Statement } from './database.ts'
import { InDoubt } from './database.ts'
import { guard } from './guard.ts'
import { inline } from './inline.ts'
import { sqlState } from './sql-state.ts'

/** What is used of a `PoolClient`. */
export interface PgClient {
  query(text: string): Promise<unknown>
  release(destroy?: Error | boolean): void
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  removeListener(event: 'error' | 'end', listener: (error?: Error) => void): unknown
}
/** What is used of a `Pool`. The second signature is `pg`'s own: with it the client's type is found. */
export interface PgPool<Client> {
  connect: { (): Promise<Client>; (callback: (...args: never[]) => void): void }
  query(text: string): Promise<unknown>
  readonly options?: { readonly max?: number | undefined }
}
export interface PgOptions {
  /** How long COMMIT may take before it counts as in doubt and its connection is destroyed. Default 10,000. */
  readonly commitMs?: number
}

/** Longer than a busy disk or a synchronous standby takes; past it the answer is looked up on another connection. */
const COMMIT_MS = 10_000
/** pg-pool's own default. */
const POOL_MAX = 10
const BEGIN = 'begin isolation level read committed read write'
const FORBIDDEN = ['release', 'end', 'connect', 'copyFrom', 'copyTo']

/** `tx` is the pool's own client. The pool stays the caller's: nothing here ends it. */
export function fromPg<Client extends PgClient>(pool: PgPool<Client>, options: PgOptions = {}): Database<Client> {
  const { commitMs = COMMIT_MS } = options

  async function transaction<R>(
    opening: readonly Statement[],
    body: (tx: Client, opened: readonly (readonly Row[])[], gone: AbortSignal) => Promise<Ending<R>>,
  ): Promise<R> {
    const line = lineOf(await pool.connect(), commitMs)
    let opened: readonly Result[]
    let ending: Ending<R>
    try {
      opened = resultsOf(await line.client.query(flight([BEGIN, ...opening.map(inline)])))
      const { tx, close } = guard(line.client, FORBIDDEN)
      const [, ...rows] = opened.map((result) => result.rows)
      ending = await body(tx, rows, line.gone).finally(close)
    } catch (error) {
      void line.rollback()
      throw error
    }
    if (!('rollback' in ending)) return commit(line, ending)
    if (ending.destroy) line.destroy(new Error('the work is still running on this connection'))
    else {
      const done = line.rollback()
      if (ending.settled) await done
    }
    return ending.value
  }

  return {
    flights: 'joined',
    connections: pool.options?.max ?? POOL_MAX,
    query: async (statement) => rowsOf(await pool.query(inline(statement))),
    on: (tx) => async (statement) => rowsOf(await tx.query(inline(statement))),
    transaction,
  }
}

interface Result {
  readonly command: string
  readonly rows: readonly Row[]
}

/** A connection while a transaction of ours has it. */
interface Line<Client> {
  readonly client: Client
  readonly gone: AbortSignal
  /** Rejects when the connection is lost or `commitMs` are over. */
  answered(query: Promise<unknown>): Promise<unknown>
  release(): void
  destroy(error: unknown): void
  /** Never rejects; the connection goes back to its pool when the answer is there. */
  rollback(): Promise<void>
}

function lineOf<Client extends PgClient>(client: Client, commitMs: number): Line<Client> {
  const death = new AbortController()
  let released = false
  keepAlive(client)
  client.on('error', die)
  client.on('end', die)

  function die(error?: Error): void {
    death.abort(error ?? new Error('the connection ended'))
  }
  function release(destroy?: Error | boolean): void {
    if (released) return
    released = true
    // The pool listens again before ours are gone: an `error` that nobody hears ends the process.
    client.release(destroy)
    client.removeListener('error', die)
    client.removeListener('end', die)
  }
  async function answered(query: Promise<unknown>): Promise<unknown> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${commitMs} ms`)), commitMs)
    })
    try {
      return await Promise.race([query, late])
    } finally {
      clearTimeout(timer)
    }
  }
  function destroy(error: unknown): void {
    release(error instanceof Error ? error : true)
  }
  return {
    client,
    gone: death.signal,
    answered,
    release,
    destroy,
    async rollback() {
      if (death.signal.aborted) return destroy(death.signal.reason)
      await answered(client.query('rollback')).then(() => release(), destroy)
    },
  }
}

async function commit<R>(line: Line<PgClient>, ending: Extract<Ending<R>, { commit: unknown }>): Promise<R> {
  if (line.gone.aborted) {
    line.destroy(line.gone.reason)
    throw new Error('the connection was lost before COMMIT was sent', { cause: line.gone.reason })
  }
  let sent: readonly Result[]
  try {
    sent = resultsOf(await line.answered(line.client.query(flight([...ending.commit.map(inline), 'commit']))))
  } catch (error) {
    if (sqlState(error) === '25P02' && ending.whenAborted) return commit(line, ending.whenAborted)
    await settleFailed(line, error)
    throw error
  }
  const tag = sent.at(-1)?.command
  line.release()
  if (tag === 'COMMIT') return ending.value
  throw new Error(`COMMIT was answered with ${tag}`)
}

/**
 * Only an ERROR of the server is definite, and it leaves a connection that answers; a FATAL one does not. The word
 * itself cannot be asked: the server says it in its own language.
 */
async function settleFailed(line: Line<PgClient>, error: unknown): Promise<void> {
  try {
    if (sqlState(error) === undefined) throw error
    await line.answered(line.client.query('rollback'))
  } catch {
    line.destroy(error)
    throw new InDoubt(error)
  }
  line.release()
}

function flight(statements: readonly string[]): string {
  return statements.join(';\n')
}

function resultsOf(answer: unknown): readonly Result[] {
  return (Array.isArray(answer) ? answer : [answer]) as readonly Result[]
}

function rowsOf(answer: unknown): readonly Row[] {
  return resultsOf(answer).at(-1)?.rows ?? []
}

/** A host that vanished is noticed by the system, not only by the next statement. */
function keepAlive(client: object): void {
  const { connection } = client as { connection?: { stream?: { setKeepAlive?: (on: boolean, ms: number) => void } } }
  connection?.stream?.setKeepAlive?.(true, 10_000)
}
