// Postgres in its two modes, by both drivers, and inside a transaction that the caller owns.
import { downstreamDedupes, type Operation, once } from 'oncekey'
import { fromPg, fromPostgresJs, postgres } from 'oncekey/postgres'
import type { Pool } from 'pg'
import type { Sql } from 'postgres'
import type { Bank } from './frameworks.ts'

export async function byPg(pool: Pool) {
  // #region migrate
  const store = postgres(fromPg(pool), { retain: '24h' })
  await store.admin.migrate() // in your deployment, not in every process
  // #endregion
  return store
}

export function byPostgresJs(sql: Sql) {
  // #region postgres-js
  const store = postgres(fromPostgresJs(sql))

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, async ({ tx }) => {
      const [account] = await tx`insert into account (owner) values (${owner}) returning id`
      return { id: String(account?.id) }
    })
  }
  // #endregion
  return { store, openAccount }
}

export function leaseMode(pool: Pool, bank: Bank) {
  // #region lease
  const store = postgres(fromPg(pool), { mode: 'lease', ...downstreamDedupes({ for: '24h' }) })

  function charge(operation: Operation, amount: number) {
    return once(store, operation, async (grant) => {
      const paid = await bank.charge(grant.childKey('charge'), amount, grant.signal)
      const tx = await grant.begin() // late: nothing foreign is awaited from here on
      await tx.query('insert into charge (amount, bank_id) values ($1, $2)', [amount, paid.id])
      return paid // commits with the row and the receipt
    })
  }
  // #endregion
  return { store, charge }
}
