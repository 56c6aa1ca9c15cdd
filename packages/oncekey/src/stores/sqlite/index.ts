/** SQLite: keys, answers and the application's own rows in one file. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Duration, milliseconds } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { type AfterFailure, DEFAULTS } from '../../core/policy.ts'
import type { Grant, InTransaction, LeasedInDatabase, Store } from '../../core/store.ts'
import { leased } from '../leased.ts'
import { sqliteAdmin } from './admin.ts'
import { findDriver, type SqliteConnection, type SqliteDriver } from './driver.ts'
import { type SqliteFile, sqliteFile } from './file.ts'
import { placed } from './holding.ts'
import { sqliteLease } from './lease.ts'
import { tablesOf } from './tables.ts'
import { type TransactionStore, transactionStore } from './transaction.ts'
import { writing } from './writing.ts'

export type { SqliteConnection, SqliteDriver, SqliteStatement } from './driver.ts'
export type { TransactionStore } from './transaction.ts'

export interface SqliteOptions<Tx extends SqliteConnection = SqliteConnection> {
  /**
   * The library's class: `Database` of libsql or better-sqlite3, `DatabaseSync` of node:sqlite. `tx` has its type.
   * Without it the first of the three that is installed is taken, and `tx` has what they have in common.
   */
  readonly driver?: SqliteDriver<Tx>
  /** Called for each of the two connections when they are opened: pragmas, functions, extensions. */
  readonly setUp?: (connection: Tx) => void
  /**
   * `full` (default): a commit is on the disk before it is answered. `normal`: no wait for the disk, and a power
   * cut can take back the last answers that were given, so that they run again; never for money.
   */
  readonly durability?: 'full' | 'normal'
  /** In front of our tables' names. Default `oncekey_`. */
  readonly prefix?: string
  /** `automatic` (default): the tables are made when the file is first used. `manual`: `store.admin.migrate()` makes them. */
  readonly migrations?: 'automatic' | 'manual'
  /** How long an answer is kept, work may take, and (lease mode) a claim is honoured without a beat. */
  readonly retain?: Duration
  /** How much longer than its answer a tombstone answers that it happened. Default: there is none. */
  readonly tombstone?: Duration
  readonly work?: Duration
  readonly lease?: Duration
  /** How long a turn at the write lock is waited for; then `STORE_UNAVAILABLE`. Default 5 s. */
  readonly lockMs?: Duration
  /** How many operations may wait for their turn in this process. Default 1,000. */
  readonly maxQueue?: number
  /** How long a disposed store waits for work in progress before its signals abort. Default 10 s. */
  readonly drain?: Duration
}
export type SqliteLeaseOptions<Tx extends SqliteConnection = SqliteConnection> = SqliteOptions<Tx> &
  AfterFailure & { readonly mode: 'lease' }

export interface SqliteStore<G extends Grant, Tx> extends Store<G> {
  /**
   * A transaction of the application's own, in the same queue as the operations: COMMIT when `work` returns, ROLLBACK
   * when it throws. Another connection of this process would wait for an operation that waits for the event loop.
   */
  write<R>(work: (tx: Tx) => R | Promise<R>): Promise<R>
}

/**
 * Operations in a file that the store opens itself, with two connections: one writes, one reads. The file is made
 * where there is none (its folder is not); several processes may use it at once.
 *
 * Without `mode` the work runs inside one transaction with its record (`grant.tx`), and a killed process frees the key
 * at once. With `mode: 'lease'` the work may call other systems, and what follows a failure has to be said:
 * `sqlite(path, { driver: Database, mode: 'lease', ...downstreamDedupes({ for: '24h' }) })`.
 *
 * @throws `INVALID_OPTION` at once; `STORE_UNAVAILABLE` from operations while the file cannot be opened.
 */
export function sqlite<Tx extends SqliteConnection = SqliteConnection>(
  path: string | URL,
  options: SqliteLeaseOptions<Tx>,
): SqliteStore<LeasedInDatabase<Tx>, Tx>
export function sqlite<Tx extends SqliteConnection = SqliteConnection>(
  path: string | URL,
  options?: SqliteOptions<Tx> & { readonly mode?: 'transaction' },
): SqliteStore<InTransaction<Tx>, Tx> & TransactionStore<Tx>
export function sqlite<Tx extends SqliteConnection>(
  path: string | URL,
  options: (SqliteOptions<Tx> & { readonly mode?: 'transaction' }) | SqliteLeaseOptions<Tx> = {},
): SqliteStore<InTransaction<Tx>, Tx> | SqliteStore<LeasedInDatabase<Tx>, Tx> {
  const {
    durability = 'full',
    prefix = 'oncekey_',
    maxQueue = 1_000,
    migrations = 'automatic',
    setUp = () => {},
  } = options
  const lockMs = milliseconds(options.lockMs ?? 5_000, 'lockMs')
  const kept = {
    retainMs: milliseconds(options.retain ?? DEFAULTS.retainMs, 'retain'),
    ...(options.tombstone === undefined ? {} : { tombstoneMs: milliseconds(options.tombstone, 'tombstone') }),
  }
  const file: SqliteFile<Tx> = sqliteFile<Tx>({
    path: pathOf(path),
    // Without a driver of the caller's own, `Tx` is what all drivers have.
    driver: options.driver ?? (findDriver() as unknown as SqliteDriver<Tx>),
    durability,
    setUp,
    tables: tablesOf(prefix),
    lockMs,
    maxQueue,
    migrations,
  })
  if (options.mode === 'lease') {
    const admin = sqliteAdmin(file, { mode: 'lease', ...kept })
    // The queue and the write lock have a limit of their own, which counts before a claim is late.
    const store = leased(sqliteLease(file, admin), { ...options, claimMs: lockMs + CLAIM_MS })
    return {
      ...store,
      attempt: (...asked) => placed(file.path, () => store.attempt(...asked)),
      write: writing(file),
    } satisfies SqliteStore<LeasedInDatabase<Tx>, Tx>
  }
  const store = transactionStore<Tx>({
    file,
    admin: sqliteAdmin(file, { mode: 'transaction', ...kept }),
    // What failed was rolled back, so that the key is free; and no owner leaves anything behind.
    defaults: {
      onFailure: 'free',
      onAbandoned: 'takeover',
      ...kept,
      ...(options.work === undefined ? {} : { workMs: milliseconds(options.work, 'work') }),
    },
    drainMs: milliseconds(options.drain ?? 10_000, 'drain'),
  })
  return { ...store, write: writing(file) }
}

/** What a claim itself may take, once it has the lock. */
const CLAIM_MS = 1_000

function pathOf(path: string | URL): string {
  const given: unknown = path instanceof URL ? fileURLToPath(path) : path
  if (typeof given !== 'string')
    throw refused(
      'sqlite() was given something else than a path.',
      'A connection that others use too would carry their statements into the transactions of operations.',
    )
  if (given === '' || given === ':memory:' || given.startsWith('file:'))
    throw refused(
      `sqlite() cannot use ${JSON.stringify(given)}.`,
      'The store opens a file twice, and each connection to a database in memory has one of its own.',
    )
  return resolve(given)
}

function refused(what: string, why: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what,
    where: 'sqlite',
    why,
    fix: 'Give the path of a file, such as `payments.db`; without a file, `memory()` is the store.',
  })
}
