/** What both modes on MySQL can be told, and what they take where they are told nothing. */
import { type Duration, milliseconds } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { DEFAULTS, type StorePolicy } from '../../core/policy.ts'
import type { Database } from '../database/database.ts'
import type { TransactionalOptions } from '../transactional.ts'
import type { SchemaOptions } from './check-schema.ts'

export interface MysqlTables {
  /** What the names of our tables begin with. Default `oncekey_`. */
  readonly prefix?: string
  /** `every-commit` (default) refuses a server whose `innodb_flush_log_at_trx_commit` is not 1. */
  readonly durability?: 'every-commit' | 'as-configured'
}
export interface MysqlOptions extends MysqlTables {
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
  /**
   * `first` (default): one look before the transaction, which answers repeats without a lock. `locked`: the first flight
   * is the transaction's; a new key costs a flight less, and repeats of one key wait for each other.
   */
  readonly read?: 'first' | 'locked'
}

export const DEFAULT_PREFIX = 'oncekey_'
/** MySQL's 64 characters for a name, less the longest of ours. */
const LONGEST_PREFIX = 50

export function tablesFrom({ prefix = DEFAULT_PREFIX, durability = 'every-commit' }: MysqlTables): SchemaOptions {
  if (/^[A-Za-z_]\w*$/.test(prefix) && prefix.length <= LONGEST_PREFIX) return { prefix, durability }
  throw new OncekeyError('INVALID_OPTION', {
    what: `${JSON.stringify(prefix)} cannot begin the names of tables.`,
    where: 'mysql',
    why: 'Other characters mean different names on different servers and file systems.',
    fix: `Give a letter, then letters, digits and underscores: ${LONGEST_PREFIX} at most.`,
  })
}

/** In transaction mode a failure was rolled back, so the key is free, and nobody is ever left behind by an owner. */
export function defaultsFrom({
  retain = DEFAULTS.retainMs,
  work = DEFAULTS.workMs,
  tombstone,
}: MysqlOptions): Partial<StorePolicy> {
  return {
    onFailure: 'free',
    onAbandoned: 'takeover',
    retainMs: milliseconds(retain, 'retain'),
    workMs: milliseconds(work, 'work'),
    ...(tombstone === undefined ? {} : { tombstoneMs: milliseconds(tombstone, 'tombstone') }),
  }
}

export function transactionalFrom<Tx>(
  database: Database<Tx>,
  options: MysqlOptions,
): Omit<TransactionalOptions, 'admin' | 'name'> {
  const { maxWinners, maxQueue = 1_000, claimMs = 1_000, drain = 10_000, read = 'first' } = options
  checkWinners(database, maxWinners)
  return {
    defaults: defaultsFrom(options),
    maxWinners,
    maxQueue,
    claimMs: milliseconds(claimMs, 'claimMs'),
    drainMs: milliseconds(drain, 'drain'),
    read,
  }
}

export function checkWinners<Tx>({ connections }: Database<Tx>, maxWinners: number | undefined): void {
  if (maxWinners === undefined ? connections !== undefined : Number.isInteger(maxWinners) && maxWinners > 0) return
  throw new OncekeyError('INVALID_OPTION', {
    what: '`maxWinners` has to be a whole number above zero here.',
    where: 'mysql',
    why: 'The size of the pool cannot be seen, and winners that took every connection would leave none to answer duplicates on.',
    fix: 'Set `maxWinners` to about four fifths of the pool.',
  })
}
