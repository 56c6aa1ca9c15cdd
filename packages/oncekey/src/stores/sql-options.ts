/** What both modes can be told on every SQL server, and what they take where they are told nothing. */
import { type Duration, milliseconds } from '../core/clock.ts'
import { OncekeyError } from '../core/errors.ts'
import { DEFAULTS, type StorePolicy } from '../core/policy.ts'
import type { Database } from './database/database.ts'
import type { LeasedOptions } from './leased.ts'
import type { TransactionalOptions } from './transactional.ts'

export interface SqlTransactionOptions {
  readonly mode?: 'transaction'
  /** How long a kept answer answers. Default 24h. */
  readonly retain?: Duration
  /** How much longer a tombstone answers that it happened, without the answer. Default: there is none. */
  readonly tombstone?: Duration
  /** How long the work may take before it is rolled back. Default 30s. */
  readonly work?: Duration
  /** How many operations may hold a connection at once. Default: the pool less a fifth; needed where its size cannot be seen. */
  readonly maxWinners?: number
  /** How many may wait for their turn. Default 1,000. */
  readonly maxQueue?: number
  /** How long the database may say nothing to anybody before a claim is answered `STORE_UNAVAILABLE`. Default 1s. */
  readonly claimMs?: Duration
  /** How long a disposed store waits for work in progress before it is rolled back. Default 10s. */
  readonly drain?: Duration
}

export interface SqlLeaseOptions extends LeasedOptions {
  readonly mode: 'lease'
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

/** In transaction mode a failure was rolled back, so the key is free, and nobody is ever left behind by an owner. */
export function transactionDefaults(options: SqlTransactionOptions): Partial<StorePolicy> {
  return {
    onFailure: 'free',
    onAbandoned: 'takeover',
    ...endsFrom(options),
    workMs: milliseconds(options.work ?? DEFAULTS.workMs, 'work'),
  }
}

/** How long what is kept lasts; for what people settle by hand, too. */
export function endsFrom({
  retain = DEFAULTS.retainMs,
  tombstone,
}: Pick<SqlTransactionOptions, 'retain' | 'tombstone'>) {
  return {
    retainMs: milliseconds(retain, 'retain'),
    ...(tombstone === undefined ? {} : { tombstoneMs: milliseconds(tombstone, 'tombstone') }),
  }
}

/** Throws `INVALID_OPTION`. */
export function bracketFrom<Tx>(
  store: string,
  database: Database<Tx>,
  options: SqlTransactionOptions,
): Omit<TransactionalOptions, 'admin' | 'name' | 'read'> {
  const { maxWinners, maxQueue = 1_000, claimMs = 1_000, drain = 10_000 } = options
  checkWinners(store, database, maxWinners)
  return {
    defaults: transactionDefaults(options),
    maxWinners,
    maxQueue,
    claimMs: milliseconds(claimMs, 'claimMs'),
    drainMs: milliseconds(drain, 'drain'),
  }
}

export function checkWinners<Tx>(store: string, database: Database<Tx>, maxWinners: number | undefined): void {
  if (maxWinners === undefined ? database.connections !== undefined : Number.isInteger(maxWinners) && maxWinners > 0)
    return
  throw new OncekeyError('INVALID_OPTION', {
    what: '`maxWinners` has to be a whole number above zero here.',
    where: store,
    why: 'The size of the pool cannot be seen, and winners that took every connection would leave none for duplicates and beats.',
    fix: 'Set `maxWinners` to about four fifths of the pool.',
  })
}
