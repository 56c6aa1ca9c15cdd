// Transaction mode through TypeORM on MariaDB, held to the store contract.
import { fromTypeorm } from 'oncekey/mysql'
import { DataSource, type EntityManager, type QueryFailedError } from 'typeorm'
import { contractOver } from '../../../test/support/contract-over-library.ts'
import { onMariadb } from '../../../test/support/grounds-apart.ts'

contractOver('TypeORM', onMariadb, async function open(url) {
  const dataSource = await new DataSource({ type: 'mariadb', url, poolSize: 10 }).initialize()
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
