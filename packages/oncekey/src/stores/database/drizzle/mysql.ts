/** The port over Drizzle on MySQL and MariaDB, by mysql2; `tx` is the transaction of the user's own instance. */
import type { Database } from '../database.ts'
import { begun, lent, unreachable } from '../lent.ts'
import { fromMysql2, type Mysql2Connection, type Mysql2Options, type Mysql2Pool } from '../mysql2.ts'
import { type DrizzleInstance, sessionOf, transactionIn } from './session.ts'

/** Options are those of `fromMysql2`. */
export function fromDrizzle<Tx>(db: DrizzleInstance<Tx>, options: Mysql2Options = {}): Database<Tx> {
  const session = sessionOf(db)
  const pool = session?.client as Mysql2Pool<Mysql2Connection> | undefined
  if (typeof pool?.getConnection !== 'function')
    throw unreachable('fromDrizzle', 'Make it with `drizzle(pool)` of `drizzle-orm/mysql2`.')
  const inner = fromMysql2(pool, options)
  return lent(inner, {
    on: (tx) => inner.on(sessionOf(tx)?.client as Mysql2Connection),
    async lend(client) {
      const line = begun(client, async () => [{ affectedRows: 0 }])
      const tx = await transactionIn<Tx>(session, line.connection)
      line.begun()
      return tx
    },
  })
}
