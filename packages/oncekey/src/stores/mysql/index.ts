/** MySQL and MariaDB: the key, the user's writes and the kept answer in one transaction; or, where the work calls something outside, a lease. */
import { DEFAULTS } from '../../core/policy.ts'
import type { Database } from '../database/database.ts'
import { type TransactionalStore, transactional } from '../transactional.ts'
import { mysqlAdmin } from './admin.ts'
import { mysqlDialect } from './dialect.ts'
import { type MysqlOptions, tablesFrom, transactionalFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export type { Database } from '../database/database.ts'
export { fromMysql2, type Mysql2Options } from '../database/mysql2.ts'
export type { TransactionalStore } from '../transactional.ts'
export type { MysqlOptions } from './options.ts'

/** Transaction mode: all effects are writes of one transaction, and `tx` is it, in the user's own library. */
export function mysql<Tx>(database: Database<Tx>, options: MysqlOptions = {}): TransactionalStore<Tx> {
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
