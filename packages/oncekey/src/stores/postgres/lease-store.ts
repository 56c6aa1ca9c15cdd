/** Lease mode on PostgreSQL: for work that calls something outside, with a transaction on demand. */
import { type Duration, milliseconds } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { type AfterFailure, DEFAULTS } from '../../core/policy.ts'
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { leased } from '../leased.ts'
import { postgresAdmin } from './admin.ts'
import { leaseDriver } from './lease.ts'
import { schemaFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export interface PostgresLeaseOptions extends AfterFailure {
  readonly mode: 'lease'
  /** The schema of our tables. Default `oncekey`. */
  readonly schema?: string
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

export function leaseStore<Tx>(database: Database<Tx>, options: PostgresLeaseOptions): Store<LeasedInDatabase<Tx>> {
  const { retain = DEFAULTS.retainMs, tombstone, maxWinners, beats } = options
  if (maxWinners === undefined ? database.connections === undefined : !(Number.isInteger(maxWinners) && maxWinners > 0))
    throw noWinners()
  const schema = schemaFrom(options.schema)
  const guard = schemaGuard(database, schema)
  const driver = leaseDriver(database, {
    schema,
    guard,
    admin: postgresAdmin(database, {
      schema,
      retainMs: milliseconds(retain, 'retain'),
      tombstoneMs: tombstone === undefined ? undefined : milliseconds(tombstone, 'tombstone'),
      guard,
    }),
    ...(maxWinners === undefined ? {} : { maxWinners }),
    ...(beats === undefined ? {} : { beats }),
  })
  return leased(driver, options)
}

function noWinners(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: '`maxWinners` has to be a whole number above zero here.',
    where: 'postgres',
    why: 'The size of the pool cannot be seen, and transactions that took every connection would leave none for beats.',
    fix: 'Set `maxWinners` to about four fifths of the pool.',
  })
}
