/** The port over TypeORM on MySQL and MariaDB, by mysql2; `tx` is its `EntityManager`, over a connection of its own pool. */
import type { Database } from '../database.ts'
import { begun, unreachable } from '../lent.ts'
import { fromMysql2, type Mysql2Connection, type Mysql2Options, type Mysql2Pool } from '../mysql2.ts'
import { managed, runnerOf, runnerOver, type TypeormSource } from './runner.ts'

/** What TypeORM holds: mysql2's own, without promises. */
interface Promising<Promised> {
  promise(): Promised
}

/** After `initialize()`. Options are those of `fromMysql2`. */
export function fromTypeorm<Manager>(source: TypeormSource<Manager>, options: Mysql2Options = {}): Database<Manager> {
  const { pool } = source.driver as { readonly pool?: Promising<Mysql2Pool<Mysql2Connection>> }
  if (typeof pool?.promise !== 'function')
    throw unreachable(
      'fromTypeorm',
      'Call it after `await dataSource.initialize()`, on a data source of type mysql or mariadb without replication.',
    )
  const inner = fromMysql2(pool, options)
  return managed(inner, {
    on: (manager) => async (statement) => {
      const connection = (await runnerOf(manager).connect()) as Promising<Mysql2Connection>
      return inner.on(connection.promise())(statement)
    },
    async lend(client) {
      const line = begun(client, async () => [{ affectedRows: 0 }])
      const runner = await runnerOver(source, { promise: () => line.connection })
      line.begun()
      return runner
    },
  })
}
