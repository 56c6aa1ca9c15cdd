/** The port over Drizzle on PostgreSQL, by node-postgres or postgres.js; `tx` is the transaction of the user's own instance. */
import type { Database } from '../database.ts'
import { begun, lent, unreachable } from '../lent.ts'
import { fromPg, type PgClient, type PgOptions, type PgPool } from '../pg.ts'
import type { PostgresJs } from '../postgres-js/driver.ts'
import { fromPostgresJs, type PostgresJsOptions } from '../postgres-js.ts'
import { type DrizzleInstance, sessionOf, transactionIn } from './session.ts'

/** Options are those of the driver below: `fromPg` or `fromPostgresJs`. */
export function fromDrizzle<Tx>(db: DrizzleInstance<Tx>, options: PgOptions & PostgresJsOptions = {}): Database<Tx> {
  const session = sessionOf(db)
  const client = session?.client as (PgPool<PgClient> & PostgresJs<object>) | undefined
  if (typeof client?.unsafe === 'function') return overPostgresJs(client, options)
  if (typeof client?.connect === 'function' && 'totalCount' in client) return overPg(client, options)
  throw unreachable('fromDrizzle', 'Make it with `drizzle(pool)` (node-postgres) or `drizzle(sql)` (postgres-js).')

  function overPg(pool: PgPool<PgClient>, told: PgOptions): Database<Tx> {
    const inner = fromPg(pool, told)
    return lent(inner, {
      on: (tx) => inner.on(sessionOf(tx)?.client as PgClient),
      async lend(given) {
        const line = begun(given, async () => ({ rows: [], command: 'BEGIN' }))
        const tx = await transactionIn<Tx>(session, line.connection)
        line.begun()
        return tx
      },
    })
  }

  function overPostgresJs(sql: PostgresJs<object>, told: PostgresJsOptions): Database<Tx> {
    const inner = fromPostgresJs(sql, told)
    return lent(inner, {
      on: (tx) => inner.on(sessionOf(tx)?.client as object),
      lend: (given) => transactionIn(session, { begin: (body: (tx: object) => unknown) => body(given) }),
    })
  }
}
