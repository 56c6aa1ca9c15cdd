/** What MySQL and MariaDB can be told besides what every SQL server can. */
import { OncekeyError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { bracketFrom, type SqlTransactionOptions } from '../sql-options.ts'
import type { TransactionalOptions } from '../transactional.ts'
import type { SchemaOptions } from './check-schema.ts'

export interface MysqlTables {
  /** What the names of our tables begin with. Default `oncekey_`. */
  readonly prefix?: string
  /** `every-commit` (default) refuses a server whose `innodb_flush_log_at_trx_commit` is not 1. */
  readonly durability?: 'every-commit' | 'as-configured'
}
export interface MysqlOptions extends SqlTransactionOptions, MysqlTables {
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

export function transactionalFrom<Tx>(
  database: Database<Tx>,
  options: MysqlOptions,
): Omit<TransactionalOptions, 'admin' | 'name'> {
  return { ...bracketFrom('mysql', database, options), read: options.read ?? 'first' }
}
