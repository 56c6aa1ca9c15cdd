/** MySQL and MariaDB: the key, the user's writes and the kept answer in one transaction; or, where the work calls something outside, a lease. */
import { DEFAULTS } from '../../core/policy.ts'
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { type TransactionalStore, transactional } from '../transactional.ts'
import { mysqlAdmin } from './admin.ts'
import { mysqlDialect } from './dialect.ts'
import { leaseStore, type MysqlLeaseOptions } from './lease-store.ts'
import { type MysqlOptions, tablesFrom, transactionalFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export type { Database } from '../database/database.ts'
export { fromDrizzle } from '../database/drizzle/mysql.ts'
export { fromKnex } from '../database/knex/mysql.ts'
export { fromKysely } from '../database/kysely/mysql.ts'
export { fromMysql2, type Mysql2Options } from '../database/mysql2.ts'
export { fromTypeorm } from '../database/typeorm/mysql.ts'
export type { TransactionalStore } from '../transactional.ts'
export type { MysqlLeaseOptions } from './lease-store.ts'
export type { MysqlOptions } from './options.ts'

/** Transaction mode: all effects are writes of one transaction, and `tx` is it, in the user's own library. */
export function mysql<Tx>(database: Database<Tx>, options?: MysqlOptions): TransactionalStore<Tx>
/** Lease mode; what follows a failure has to be said: `{ mode: 'lease', ...downstreamDedupes({ for: '24h' }) }`. */
export function mysql<Tx>(database: Database<Tx>, options: MysqlLeaseOptions): Store<LeasedInDatabase<Tx>>
export function mysql<Tx>(
  database: Database<Tx>,
  options: MysqlOptions | MysqlLeaseOptions = {},
): TransactionalStore<Tx> | Store<LeasedInDatabase<Tx>> {
  if (options.mode === 'lease') return leaseStore(database, options)
  const tables = tablesFrom(options)
  const told = transactionalFrom(database, options)
  const guard = schemaGuard(database, tables)
  const { retainMs = DEFAULTS.retainMs, tombstoneMs } = told.defaults
  return transactional(database, mysqlDialect(tables.prefix, guard), {
    name: 'mysql',
    admin: mysqlAdmin(database, { prefix: tables.prefix, guard, retainMs, tombstoneMs }),
    restored: guard.restored,
    ...told,
  })
}
