/** Lease mode on MySQL: for work that calls something outside, with a transaction on demand. */
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { leased } from '../leased.ts'
import { checkWinners, endsFrom, type SqlLeaseOptions } from '../sql-options.ts'
import { mysqlAdmin } from './admin.ts'
import { leaseDriver } from './lease.ts'
import { type MysqlTables, tablesFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export interface MysqlLeaseOptions extends SqlLeaseOptions, MysqlTables {}

export function leaseStore<Tx>(database: Database<Tx>, options: MysqlLeaseOptions): Store<LeasedInDatabase<Tx>> {
  const { maxWinners, beats } = options
  checkWinners('mysql', database, maxWinners)
  const tables = tablesFrom(options)
  const { prefix } = tables
  const guard = schemaGuard(database, tables)
  const driver = leaseDriver(database, {
    prefix,
    guard,
    admin: mysqlAdmin(database, { prefix, guard, ...endsFrom(options) }),
    ...(maxWinners === undefined ? {} : { maxWinners }),
    ...(beats === undefined ? {} : { beats }),
  })
  return leased(driver, options)
}
