/** The port over `pg`: BEGIN travels with the opening, and the last statements with COMMIT. */
import { OncekeyError } from '../../core/errors.ts'
import type { Database } from './database.ts'
import { guard } from './guard.ts'
import { COMMIT_MS, inTime, joined, type Line, writing } from './joined.ts'
import { apart, type Form, together } from './pg-flights.ts'
import { sqlState } from './sql-state.ts'

/** What is used of a `PoolClient`. */
export interface PgClient {
  query(text: string): Promise<unknown>
  getTransactionStatus?(): unknown
  readonly readyForQuery?: unknown
  release(destroy?: Error | boolean): void
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  removeListener(event: 'error' | 'end', listener: (error?: Error) => void): unknown
}
/** What is used of a `Pool`. The second signature is `pg`'s own: with it the client's type is found. */
export interface PgPool<Client> {
  connect: { (): Promise<Client>; (callback: (...args: never[]) => void): void }
  query(text: string): Promise<unknown>
  readonly options?: { readonly max?: number | undefined; readonly pipeline?: boolean | undefined }
}
export interface PgOptions {
  /** How long COMMIT may take before it counts as in doubt and its connection is destroyed. Default 10,000. */
  readonly commitMs?: number
  /** Send our statements as messages of their own; the pool has to be a pipelined one. Default: one query of several. */
  readonly pipeline?: boolean
  /** Name them too, so that each connection parses them once. Not behind a pooler in transaction mode. */
  readonly preparedStatements?: boolean
}

/** pg-pool's own default. */
const POOL_MAX = 10
const FORBIDDEN = ['release', 'end', 'connect', 'copyFrom', 'copyTo']

/** `tx` is the pool's own client. The pool stays the caller's: nothing here ends it. */
export function fromPg<Client extends PgClient>(pool: PgPool<Client>, options: PgOptions = {}): Database<Client> {
  const { commitMs = COMMIT_MS, preparedStatements = false, pipeline = preparedStatements } = options
  if (pipeline && pool.options?.pipeline !== true) throw poolWithoutPipeline()
  const form = pipeline ? apart(preparedStatements) : together
  return {
    flights: 'joined',
    connections: pool.options?.max ?? POOL_MAX,
    query: (statement) => writing(statement, (asked) => (asked === statement ? form : together).one(pool, asked)),
    on: (tx) => async (statement) => form.one(tx, statement),
    transaction: async (opening, body) => joined(inTime(lineOf(await pool.connect(), form), commitMs), opening, body),
  }
}

function lineOf<Client extends PgClient>(client: Client, form: Form): Line<Client> {
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
  const line: Line<Client> = {
    gone: death.signal,
    fly: (flight) => form.fly(client, flight),
    lend: () => guard(client, FORBIDDEN),
    release,
    destroy: (reason) => release(reason instanceof Error ? reason : true),
    // Only an ERROR leaves a connection that answers; a FATAL does not. The word itself cannot be asked: the server
    // says it in its own language.
    refused: async (error) => sqlState(error) !== undefined && (await answers(client)),
  }
  return form.goesOn ? { ...line, suspect: () => !isHealthy(client) } : line
}

/** A query fails when its error comes; what state that left is told only when the server is ready again. */
function isHealthy(client: PgClient): boolean {
  return client.readyForQuery === true && client.getTransactionStatus?.() === 'T'
}

/** Ends what is still open, too. */
async function answers(client: PgClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}

/** A host that vanished is noticed by the system, not only by the next statement. */
function keepAlive(client: object): void {
  const { connection } = client as { connection?: { stream?: { setKeepAlive?: (on: boolean, ms: number) => void } } }
  connection?.stream?.setKeepAlive?.(true, 10_000)
}

function poolWithoutPipeline(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'Statements are to be sent as separate messages over a pool that sends one at a time.',
    where: 'fromPg',
    why: 'Each of them would take a round trip of its own.',
    fix: 'Make the pool with `new Pool({ pipeline: true })` (pg 8.23), or leave `pipeline` and `preparedStatements` out.',
  })
}
