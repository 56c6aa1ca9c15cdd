/** PostgreSQL: the key, the user's writes and the kept answer in one transaction; or, where the work calls something outside, a lease. */
import { DEFAULTS } from '../../core/policy.ts'
import type { InTransaction, LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { transactional } from '../transactional.ts'
import { postgresAdmin } from './admin.ts'
import { postgresDialect } from './dialect.ts'
import { leaseStore, type PostgresLeaseOptions } from './lease-store.ts'
import { type PostgresOptions, schemaFrom, transactionalFrom } from './options.ts'

export type { Database } from '../database/database.ts'
export { fromPg, type PgOptions } from '../database/pg.ts'
export type { PostgresLeaseOptions } from './lease-store.ts'
export type { PostgresOptions } from './options.ts'

export function postgres<Tx>(database: Database<Tx>, options?: PostgresOptions): Store<InTransaction<Tx>>
export function postgres<Tx>(database: Database<Tx>, options: PostgresLeaseOptions): Store<LeasedInDatabase<Tx>>
export function postgres<Tx>(
  database: Database<Tx>,
  options: PostgresOptions | PostgresLeaseOptions = {},
): Store<InTransaction<Tx>> | Store<LeasedInDatabase<Tx>> {
  if (options.mode === 'lease') return leaseStore(database, options)
  const schema = schemaFrom(options.schema)
  const told = transactionalFrom(database, options)
  return transactional(database, postgresDialect(schema), {
    name: 'postgres',
    admin: postgresAdmin(database, { schema, retainMs: told.defaults.retainMs ?? DEFAULTS.retainMs }),
    ...told,
  })
}
