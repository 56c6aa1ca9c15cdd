/** An account is opened once for each key, by TypeORM. */
import { type Operation, once } from 'oncekey'
import { fromTypeorm, postgres } from 'oncekey/postgres'
import type { DataSource } from 'typeorm'
import { account } from './account.ts'

export function accounts(dataSource: DataSource) {
  // #region typeorm
  const store = postgres(fromTypeorm(dataSource)) // after dataSource.initialize()

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, async ({ tx }) => {
      const { id } = await tx.getRepository(account).save({ owner })
      return { id }
    })
  }
  // #endregion
  return { store, openAccount }
}
