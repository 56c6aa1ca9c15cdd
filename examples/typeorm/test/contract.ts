// Transaction mode through TypeORM, held to the store contract.
import { fromTypeorm } from 'oncekey/postgres'
import { DataSource, type EntityManager, type QueryFailedError } from 'typeorm'
import { contractOver } from '../../../test/support/contract-over-library.ts'
import { onPostgres } from '../../../test/support/grounds-apart.ts'

contractOver('TypeORM', onPostgres, async function open(url) {
  const dataSource = await new DataSource({ type: 'postgres', url, poolSize: 10 }).initialize()
  return {
    database: fromTypeorm(dataSource, { commitMs: 1_000 }),
    // TypeORM wraps what its driver throws.
    run: (tx: EntityManager, sql) =>
      tx.query(sql).catch((error: QueryFailedError) => {
        throw error.driverError ?? error
      }),
    end: () => dataSource.destroy(),
  }
})
