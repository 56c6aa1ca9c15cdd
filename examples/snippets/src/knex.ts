// Knex on Postgres.
import type { Knex } from 'knex'
import { type Operation, once } from 'oncekey'
import { fromKnex, postgres } from 'oncekey/postgres'

export function byKnex(knex: Knex) {
  // #region knex
  const store = postgres(fromKnex(knex))

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, async ({ tx }) => {
      const [opened] = await tx('account').insert({ owner }).returning('id')
      return opened
    })
  }
  // #endregion
  return { store, openAccount }
}
