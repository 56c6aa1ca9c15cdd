/** The port over `mysql2`: BEGIN travels with the opening, and the last statements with COMMIT, where the server can read a block. */
import type { Database, Row, Statement } from './database.ts'
import { guard } from './guard.ts'
import { COMMIT_MS, type Flight, inTime, joined, type Line } from './joined.ts'
import { leavesInDoubt, mysqlError } from './mysql-error.ts'
import { rowsOf } from './mysql-rows.ts'
import { ask, type Form, formFor } from './mysql2-flights.ts'

/** What is used of a `PoolConnection` of `mysql2/promise`. */
export interface Mysql2Connection {
  query(options: never): Promise<unknown>
  release(): void
  destroy(): void
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  removeListener(event: 'error' | 'end', listener: (error?: Error) => void): unknown
}
/** What is used of a `Pool` of `mysql2/promise`. */
export interface Mysql2Pool<Connection> {
  getConnection(): Promise<Connection>
  /** The pool beneath it; its size is read there. */
  readonly pool?: object
}
export interface Mysql2Options {
  /** How long COMMIT may take before it counts as in doubt and its connection is destroyed. Default 10,000. */
  readonly commitMs?: number
  /** The pool's size, where it cannot be seen. */
  readonly connections?: number
}

/** mysql2's own default. */
const POOL_LIMIT = 10
const FORBIDDEN = [
  'release',
  'destroy',
  'end',
  'close',
  'beginTransaction',
  'commit',
  'rollback',
  'changeUser',
  'reset',
  'promise',
]

/** `tx` is the pool's own connection, with promises. The pool stays the caller's: nothing here ends it. */
export function fromMysql2<Connection extends Mysql2Connection>(
  pool: Mysql2Pool<Connection> | { promise(): Mysql2Pool<Connection> },
  options: Mysql2Options = {},
): Database<Connection> {
  const { commitMs = COMMIT_MS } = options
  const source = 'promise' in pool ? pool.promise() : pool
  let form: Promise<Form> | undefined

  /** What the server understands is asked once. */
  function formOf(connection: Connection): Promise<Form> {
    form ??= formFor(connection).catch((error: unknown) => {
      form = undefined
      throw error
    })
    return form
  }

  async function query(statement: Statement): Promise<readonly Row[]> {
    const connection = await source.getConnection()
    try {
      if (!statement.uncommitted) return await one(connection, statement)
      const flight = { first: 'set transaction isolation level read uncommitted', statements: [statement] }
      const { rows } = await (await formOf(connection)).fly(connection, flight)
      return rows[0] ?? []
    } finally {
      connection.release()
    }
  }
  return {
    flights: 'joined',
    connections: options.connections ?? limitOf(source) ?? POOL_LIMIT,
    query,
    on: (tx) => (statement) => one(tx, statement),
    async transaction(opening, body) {
      const connection = await source.getConnection()
      const line = lineOf(connection, () => formOf(connection))
      return joined(inTime(line, commitMs), opening, body)
    },
  }
}

async function one(connection: Mysql2Connection, statement: Statement): Promise<readonly Row[]> {
  return rowsOf(await ask(connection, statement.text, statement.params))
}

function lineOf<Connection extends Mysql2Connection>(
  connection: Connection,
  form: () => Promise<Form>,
): Line<Connection> {
  const death = new AbortController()
  let released = false
  connection.on('error', die)
  connection.on('end', die)

  function die(error?: Error): void {
    death.abort(error ?? new Error('the connection ended'))
  }
  function give(back: () => void): void {
    if (released) return
    released = true
    connection.removeListener('error', die)
    connection.removeListener('end', die)
    back()
  }
  /** Ends what is still open, too. */
  function answers(): Promise<boolean> {
    return fly({ first: 'rollback' }).then(
      () => true,
      () => false,
    )
  }
  const fly = async (flight: Flight) => (await form()).fly(connection, flight)
  return {
    gone: death.signal,
    fly,
    lend: () => lend(connection),
    release: () => give(() => connection.release()),
    destroy: () => give(() => connection.destroy()),
    async refused(error) {
      const said = mysqlError(error)
      return said !== undefined && !leavesInDoubt(said.errno) && (await answers())
    },
  }
}

/**
 * Guarded at the connection beneath the promises too, which everybody can reach as `tx.connection`: what the promises
 * send goes through it as well.
 */
function lend<Connection extends Mysql2Connection>(connection: Connection) {
  const { connection: beneath } = connection as { connection?: object }
  if (beneath === undefined) return guard(connection, FORBIDDEN)
  const inner = guard(beneath, FORBIDDEN)
  const outer = guard(Object.create(connection, { connection: { get: () => inner.tx } }) as Connection, FORBIDDEN)
  return {
    tx: outer.tx,
    close() {
      inner.close()
      outer.close()
    },
  }
}

function limitOf(pool: object): number | undefined {
  const { config, pool: beneath } = pool as { config?: { connectionLimit?: unknown }; pool?: object }
  if (typeof config?.connectionLimit === 'number') return config.connectionLimit
  return beneath === undefined ? undefined : limitOf(beneath)
}
