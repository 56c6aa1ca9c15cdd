/** Two connections of our own to one file: one reads and is never in the way, one writes behind the queue. */
import { monotonic, sleep } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'
import { isBusy } from './failure.ts'
import { type Sql, sqlOn } from './sql.ts'

export interface Connections<Tx> {
  readonly reader: Sql
  readonly writer: Sql
  /** The library's own object behind `writer`. */
  readonly connection: Tx
  close(): void
}

export interface Opening<Tx extends SqliteConnection> {
  readonly path: string
  readonly driver: SqliteDriver<Tx>
  readonly durability: 'full' | 'normal'
  readonly setUp: (connection: Tx) => void
}

/** SQLite itself may wait so long, standing still with the whole process; what takes longer is asked for again later. */
const BUSY_TIMEOUT_MS = 2

export async function openConnections<Tx extends SqliteConnection>(
  { path, driver: Driver, durability, setUp }: Opening<Tx>,
  until: number,
): Promise<Connections<Tx>> {
  const opened: Tx[] = []

  async function open(): Promise<Tx> {
    const connection = await patiently(() => new Driver(path, { timeout: BUSY_TIMEOUT_MS }), until)
    opened.push(connection)
    connection.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // The switch needs the file for itself, and SQLite does not wait for it: processes that start at once take turns.
    const mode = await patiently(() => connection.prepare('pragma journal_mode = wal').get(), until)
    if ((mode as { journal_mode?: unknown }).journal_mode !== 'wal') throw noWal(path)
    connection.exec(`pragma synchronous = ${durability}`)
    await patiently(() => setUp(connection), until)
    return connection
  }
  function close(): void {
    for (const connection of opened.splice(0)) connection.close()
  }

  try {
    const connection = await open()
    const reading = await open()
    reading.exec('pragma query_only = on')
    return { reader: sqlOn(reading), writer: sqlOn(connection), connection, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Tries until the lock comes free or `until` is past, without ever standing still for long; then throws what SQLite said. */
export async function patiently<R>(step: () => R, until: number, signal?: AbortSignal): Promise<R> {
  for (let pause = 1; ; pause = Math.min(pause * 2, 10)) {
    try {
      return step()
    } catch (error) {
      if (!isBusy(error) || monotonic() >= until) throw error
    }
    await sleep(pause * (0.5 + Math.random()), signal)
    signal?.throwIfAborted()
  }
}

function noWal(path: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'The file does not take a write-ahead log.',
    where: path,
    why: 'Without one, readers and the writer keep each other out, and a repeat could not be answered while work runs.',
    fix: 'Put it on a local file system; `memory()` is the store for tests without a file.',
  })
}
