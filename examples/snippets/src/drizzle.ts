// Drizzle on Postgres.
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, serial, text } from 'drizzle-orm/pg-core'
import { type Operation, once } from 'oncekey'
import { fromDrizzle, postgres } from 'oncekey/postgres'
import type { Pool } from 'pg'

export const account = pgTable('account', { id: serial().primaryKey(), owner: text() })

export function byDrizzle(pool: Pool) {
  // #region drizzle
  const db = drizzle(pool, { schema: { account } })
  const store = postgres(fromDrizzle(db))

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, async ({ tx }) => {
      const [opened] = await tx.insert(account).values({ owner }).returning({ id: account.id })
      return opened
    })
  }
  // #endregion
  return { store, openAccount }
}
