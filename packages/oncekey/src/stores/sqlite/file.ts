/** One SQLite file as the store uses it: reads at any time, writes one at a time, and a busy lock never reaches the caller as an error. */
import { monotonic } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Row, Statement } from '../database/database.ts'
import { type Connections, type Opening, openConnections, patiently } from './connections.ts'
import type { SqliteConnection } from './driver.ts'
import { isBusy, lockTimeout, unavailable } from './failure.ts'
import { refuseInside } from './holding.ts'
import { writeQueue } from './queue.ts'
import { checkSchema, type Meta, migrateSchema, otherRecords } from './schema.ts'
import type { Sql } from './sql.ts'
import type { Tables } from './tables.ts'

export interface Writer<Tx> extends Sql {
  readonly connection: Tx
  /** Called when the turn is over, and told if its last transaction was committed. */
  readonly ended: ((committed: boolean) => void)[]
  /** Everything since BEGIN, durable. Without it the transaction is rolled back when the body ends. */
  commit(): Promise<void>
  rollback(): void
  /** A new transaction after one that is over, under the same turn of the queue. */
  begin(until: number, signal?: AbortSignal): Promise<void>
}

export interface Waiting {
  /** On the monotonic clock. Default `lockMs` from now. */
  readonly until?: number
  /** Ends the wait for a turn, with its own reason. */
  readonly signal?: AbortSignal | undefined
}

export interface SqliteFile<Tx> extends AsyncDisposable {
  readonly path: string
  readonly tables: Tables
  /** How long a turn at the write lock is waited for. */
  readonly lockMs: number
  /** The first row; see `list` for the others. */
  read(statement: Statement): Promise<Row | undefined>
  list(statement: Statement): Promise<readonly Row[]>
  /** BEGIN IMMEDIATE, then the body. Rejects with `STORE_UNAVAILABLE` where the lock is not to be had in time. */
  write<R>(body: (writer: Writer<Tx>) => R | Promise<R>, turn?: Waiting): Promise<R>
  /** It is the turn that is at the lock of this file now. */
  owns(writer: Writer<Tx>): boolean
  migrate(): Promise<void>
  /** Asks again whether this build may use what stands there, and for the last restore. */
  check(): Promise<void>
  /** As the last check said, without asking. Rejects once a check found other records than the first did (I4). */
  restored(): Promise<Restored | undefined>
  /** The epoch that this process itself has begun. */
  adopt(meta: Meta): void
}

export interface FileOptions<Tx extends SqliteConnection> extends Opening<Tx> {
  readonly tables: Tables
  readonly lockMs: number
  readonly maxQueue: number
  readonly migrations: 'automatic' | 'manual'
}

export function sqliteFile<Tx extends SqliteConnection>(options: FileOptions<Tx>): SqliteFile<Tx> {
  const { path, tables, lockMs, migrations } = options
  const queue = writeQueue(options)
  let ready: Promise<Connections<Tx>> | undefined
  let known: Meta | undefined
  let replaced = false
  let closed = false
  let current: Writer<Tx> | undefined

  function soon(): number {
    return monotonic() + lockMs
  }

  function remember(found: Meta): void {
    replaced = known !== undefined && found.epoch !== known.epoch
    if (replaced) throw otherRecords(tables)
    known = found
  }

  async function openFile(): Promise<Connections<Tx>> {
    const until = soon()
    const connections = await openConnections(options, until)
    try {
      if (migrations === 'automatic') await migrateSchema(connections, tables, until)
      remember(checkSchema(connections.reader, tables))
      return connections
    } catch (error) {
      connections.close()
      throw error
    }
  }
  async function connected(): Promise<Connections<Tx>> {
    if (closed) throw storeClosed(path)
    ready ??= openFile()
    const mine = ready
    try {
      return await mine
    } catch (error) {
      // The next caller opens anew: what is wrong now may be mended then.
      if (ready === mine) ready = undefined
      throw unavailable(error, path)
    }
  }
  /** A connection that does not know any more whether it is in a transaction is of no further use. */
  function discard(connections: Connections<Tx>): void {
    ready = undefined
    connections.close()
  }

  async function reading<R>(step: (reader: Sql) => R): Promise<R> {
    const { reader } = await connected()
    try {
      return step(reader)
    } catch (error) {
      if (!isBusy(error)) throw unavailable(error, path)
    }
    return patiently(() => step(reader), soon()).catch((error: unknown) => {
      throw unavailable(error, path)
    })
  }

  async function write<R>(
    body: (writer: Writer<Tx>) => R | Promise<R>,
    { until = soon(), signal }: Waiting = {},
  ): Promise<R> {
    refuseInside(path)
    await connected()
    const leave = await queue.enter(until, signal)
    try {
      const connections = await connected()
      const { writer, connection } = connections
      let inside = false
      let committed = false
      const turn: Writer<Tx> = {
        ...writer,
        connection,
        ended: [],
        async begin(until, leaving) {
          try {
            await patiently(() => writer.run(BEGIN), until, leaving)
            inside = true
            committed = false
          } catch (error) {
            if (leaving?.aborted) throw error
            if (isBusy(error)) throw lockTimeout(lockMs, path, error)
            discard(connections)
            throw unavailable(error, path)
          }
        },
        async commit() {
          await patiently(() => writer.run(COMMIT), soon())
          inside = false
          committed = true
        },
        rollback() {
          inside = false
          try {
            writer.run(ROLLBACK)
          } catch {
            // SQLite has rolled back by itself (disk full, `on conflict rollback`), or somebody else has ended it.
          }
        },
      }
      // The caller's own signal ends waiting for the lock, never what has begun under it.
      await turn.begin(until, signal)
      current = turn
      try {
        return await body(turn)
      } finally {
        current = undefined
        if (inside) turn.rollback()
        for (const tellEnd of turn.ended) tellEnd(committed)
      }
    } finally {
      leave()
    }
  }

  return {
    path,
    tables,
    lockMs,
    read: (statement) => reading((reader) => reader.get(statement)),
    list: (statement) => reading((reader) => reader.all(statement)),
    write,
    owns: (writer) => writer === current,
    async migrate() {
      if (closed) throw storeClosed(path)
      const connections = await openConnections(options, soon()).catch((error: unknown) => {
        throw unavailable(error, path)
      })
      try {
        await migrateSchema(connections, tables, soon())
      } catch (error) {
        throw unavailable(error, path)
      } finally {
        connections.close()
      }
    },
    async check() {
      const { reader } = await connected()
      remember(checkSchema(reader, tables))
    },
    async restored() {
      await connected()
      if (replaced) throw otherRecords(tables)
      return known?.restored
    },
    adopt(meta) {
      replaced = false
      known = meta
    },
    async [Symbol.asyncDispose]() {
      closed = true
      await queue.idle()
      const opened = ready
      ready = undefined
      await opened?.then(
        (connections) => connections.close(),
        () => undefined,
      )
    },
  }
}

const BEGIN = { text: 'begin immediate', params: [] }
const COMMIT = { text: 'commit', params: [] }
const ROLLBACK = { text: 'rollback', params: [] }

export function storeClosed(path: string): OncekeyError {
  return new OncekeyError('STORE_CLOSED', {
    what: 'The store is closing or closed.',
    where: path,
    why: 'A claim made now could be left behind by the process that made it.',
    fix: 'Stop taking requests before the store is disposed.',
  })
}
