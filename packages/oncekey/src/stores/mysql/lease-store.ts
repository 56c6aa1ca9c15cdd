/** Lease mode on MySQL: for work that calls something outside, with a transaction on demand. */
import { type Duration, milliseconds } from '../../core/clock.ts'
import { type AfterFailure, DEFAULTS } from '../../core/policy.ts'
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { leased } from '../leased.ts'
import { mysqlAdmin } from './admin.ts'
import { leaseDriver } from './lease.ts'
import { checkWinners, type MysqlTables, tablesFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export interface MysqlLeaseOptions extends AfterFailure, MysqlTables {
  readonly mode: 'lease'
  /** How long a kept answer answers. Default 24h. */
  readonly retain?: Duration
  /** How much longer a tombstone answers that it happened, without the answer. Default: there is none. */
  readonly tombstone?: Duration
  /** How long the work may take before its signal aborts and its outcome is held. Default 30s. */
  readonly work?: Duration
  /** How long a claim is honoured without a beat; a beat is sent at every third of it. Default 30s. */
  readonly lease?: Duration
  /** How long a claim may take before the answer is `STORE_UNAVAILABLE`. Default 1s. */
  readonly claimMs?: Duration
  /** How long a disposed store waits for work in progress before its signals abort. Default 10s. */
  readonly drain?: Duration
  /**
   * How many transactions of `begin()` are open at once, so that beats always find a connection. Default: the pool
   * less a fifth, at least one; needed where the pool's size cannot be seen.
   */
  readonly maxWinners?: number
  /**
   * A database over connections that nothing else uses, for beats alone; one connection is enough. Needed where the
   * pool has a single connection, or where the application itself may hold all of them for longer than a lease.
   */
  readonly beats?: Pick<Database<never>, 'query'>
}

export function leaseStore<Tx>(database: Database<Tx>, options: MysqlLeaseOptions): Store<LeasedInDatabase<Tx>> {
  const { retain = DEFAULTS.retainMs, tombstone, maxWinners, beats } = options
  checkWinners(database, maxWinners)
  const tables = tablesFrom(options)
  const { prefix } = tables
  const guard = schemaGuard(database, tables)
  const driver = leaseDriver(database, {
    prefix,
    guard,
    admin: mysqlAdmin(database, {
      prefix,
      guard,
      retainMs: milliseconds(retain, 'retain'),
      tombstoneMs: tombstone === undefined ? undefined : milliseconds(tombstone, 'tombstone'),
    }),
    ...(maxWinners === undefined ? {} : { maxWinners }),
    ...(beats === undefined ? {} : { beats }),
  })
  return leased(driver, options)
}
