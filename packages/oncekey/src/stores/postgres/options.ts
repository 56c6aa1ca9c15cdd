/** What both modes on PostgreSQL can be told, and what they take where they are told nothing. */
import { type Duration, milliseconds } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { DEFAULTS, type StorePolicy } from '../../core/policy.ts'
import type { Database } from '../database/database.ts'
import type { TransactionalOptions } from '../transactional.ts'

export interface PostgresOptions {
  readonly mode?: 'transaction'
  /** The schema of our tables. Default `oncekey`. */
  readonly schema?: string
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
   * `locked` (default): lock and look in the first flight. `first`: one look before, for endpoints whose requests are
   * mostly repeats: a repeat is one lookup without a transaction, and a new key costs a flight more.
   */
  readonly read?: 'first' | 'locked'
}

export const DEFAULT_SCHEMA = 'oncekey'
/** PostgreSQL cuts longer names off, and two schemas could become one. */
const LONGEST_NAME = 63

export function schemaFrom(schema: string = DEFAULT_SCHEMA): string {
  if (schema !== '' && !schema.includes('\0') && new TextEncoder().encode(schema).length <= LONGEST_NAME) return schema
  throw new OncekeyError('INVALID_OPTION', {
    what: `${JSON.stringify(schema)} cannot be the name of a schema.`,
    where: 'postgres',
    why: 'PostgreSQL would refuse it, or cut it off and find another schema than the one that was meant.',
    fix: `Give a name of 1 to ${LONGEST_NAME} bytes.`,
  })
}

/** In transaction mode a failure was rolled back, so the key is free, and nobody is ever left behind by an owner. */
export function defaultsFrom({
  retain = DEFAULTS.retainMs,
  tombstone,
  work = DEFAULTS.workMs,
}: PostgresOptions): Partial<StorePolicy> {
  return {
    onFailure: 'free',
    onAbandoned: 'takeover',
    retainMs: milliseconds(retain, 'retain'),
    ...(tombstone === undefined ? {} : { tombstoneMs: milliseconds(tombstone, 'tombstone') }),
    workMs: milliseconds(work, 'work'),
  }
}

export function transactionalFrom<Tx>(
  database: Database<Tx>,
  options: PostgresOptions,
): Omit<TransactionalOptions, 'admin' | 'name'> {
  const { maxWinners, maxQueue = 1_000, claimMs = 1_000, drain = 10_000 } = options
  if (maxWinners === undefined && database.connections === undefined) throw poolUnseen()
  if (maxWinners !== undefined && !(Number.isInteger(maxWinners) && maxWinners > 0)) throw poolUnseen()
  return {
    defaults: defaultsFrom(options),
    maxWinners,
    maxQueue,
    claimMs: milliseconds(claimMs, 'claimMs'),
    drainMs: milliseconds(drain, 'drain'),
    read: options.read ?? (database.flights === 'joined' ? 'locked' : 'first'),
  }
}

function poolUnseen(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: '`maxWinners` has to be a whole number above zero here.',
    where: 'postgres',
    why: 'The size of the pool cannot be seen, and winners that took every connection would leave none to answer duplicates on.',
    fix: 'Set `maxWinners` to about four fifths of the pool.',
  })
}
