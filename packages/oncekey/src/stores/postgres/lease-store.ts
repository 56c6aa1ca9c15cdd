/** Lease mode on PostgreSQL: for work that calls something outside, with a transaction on demand. */
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { leased } from '../leased.ts'
import { checkWinners, endsFrom, type SqlLeaseOptions } from '../sql-options.ts'
import { postgresAdmin } from './admin.ts'
import { leaseDriver } from './lease.ts'
import { type PostgresTables, schemaFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

export interface PostgresLeaseOptions extends SqlLeaseOptions, PostgresTables {}

export function leaseStore<Tx>(database: Database<Tx>, options: PostgresLeaseOptions): Store<LeasedInDatabase<Tx>> {
  const { maxWinners, beats } = options
  checkWinners('postgres', database, maxWinners)
  const schema = schemaFrom(options.schema)
  const guard = schemaGuard(database, schema)
  const driver = leaseDriver(database, {
    schema,
    guard,
    admin: postgresAdmin(database, { schema, guard, ...endsFrom(options) }),
    ...(maxWinners === undefined ? {} : { maxWinners }),
    ...(beats === undefined ? {} : { beats }),
  })
  return leased(driver, options)
}
