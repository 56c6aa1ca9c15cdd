/** PostgreSQL: the key, the user's writes and the kept answer in one transaction; or, where the work calls something outside, a lease. */
import { DEFAULTS } from '../../core/policy.ts'
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { type TransactionalStore, transactional } from '../transactional.ts'
import { postgresAdmin } from './admin.ts'
import { postgresDialect } from './dialect.ts'
import { leaseStore, type PostgresLeaseOptions } from './lease-store.ts'
import { type PostgresOptions, schemaFrom, transactionalFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export type { Database } from '../database/database.ts'
export { fromDrizzle } from '../database/drizzle/postgres.ts'
export { fromKnex } from '../database/knex/postgres.ts'
export { fromKysely } from '../database/kysely/postgres.ts'
export { fromPg, type PgOptions } from '../database/pg.ts'
export { fromPostgresJs, type PostgresJsOptions } from '../database/postgres-js.ts'
export { fromPrisma, type PrismaOptions } from '../database/prisma/postgres.ts'
export { fromTypeorm } from '../database/typeorm/postgres.ts'
export type { TransactionalStore } from '../transactional.ts'
export type { PostgresLeaseOptions } from './lease-store.ts'
export type { PostgresOptions } from './options.ts'

/** Transaction mode: all effects are writes of one transaction, and `tx` is it, in the user's own library. */
export function postgres<Tx>(database: Database<Tx>, options?: PostgresOptions): TransactionalStore<Tx>
/** Lease mode; what follows a failure has to be said: `{ mode: 'lease', ...downstreamDedupes({ for: '24h' }) }`. */
export function postgres<Tx>(database: Database<Tx>, options: PostgresLeaseOptions): Store<LeasedInDatabase<Tx>>
export function postgres<Tx>(
  database: Database<Tx>,
  options: PostgresOptions | PostgresLeaseOptions = {},
): TransactionalStore<Tx> | Store<LeasedInDatabase<Tx>> {
  if (options.mode === 'lease') return leaseStore(database, options)
  const schema = schemaFrom(options.schema)
  const told = transactionalFrom(database, options)
  const guard = schemaGuard(database, schema)
  const { retainMs = DEFAULTS.retainMs, tombstoneMs } = told.defaults
  return transactional(database, postgresDialect(schema, guard), {
    name: 'postgres',
    admin: postgresAdmin(database, { schema, retainMs, tombstoneMs, guard }),
    restored: guard.restored,
    ...told,
  })
}
