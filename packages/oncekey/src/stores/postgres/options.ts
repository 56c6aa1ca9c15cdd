/** What PostgreSQL can be told besides what every SQL server can. */
import { OncekeyError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { bracketFrom, type SqlTransactionOptions } from '../sql-options.ts'
import type { TransactionalOptions } from '../transactional.ts'

export interface PostgresTables {
  /** The schema of our tables. Default `oncekey`. */
  readonly schema?: string
}
export interface PostgresOptions extends SqlTransactionOptions, PostgresTables {
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

export function transactionalFrom<Tx>(
  database: Database<Tx>,
  options: PostgresOptions,
): Omit<TransactionalOptions, 'admin' | 'name'> {
  const { read = database.flights === 'joined' ? 'locked' : 'first' } = options
  return { ...bracketFrom('postgres', database, options), read }
}
