/** PostgreSQL: the key, the user's writes and the kept answer in one transaction. */
import type { InTransaction, Store } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { transactional } from '../transactional.ts'
import { postgresAdmin } from './admin.ts'
import { postgresDialect } from './dialect.ts'
import { type PostgresOptions, schemaFrom, transactionalFrom } from './options.ts'

export type { Database } from '../database/database.ts'
export { fromPg, type PgOptions } from '../database/pg.ts'
export type { PostgresOptions } from './options.ts'

export function postgres<Tx>(database: Database<Tx>, options: PostgresOptions = {}): Store<InTransaction<Tx>> {
  const schema = schemaFrom(options.schema)
  return transactional(database, postgresDialect(schema), {
    name: 'postgres',
    admin: postgresAdmin(database, schema),
    ...transactionalFrom(database, options),
  })
}
