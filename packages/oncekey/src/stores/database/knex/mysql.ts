/** The port over Knex on MySQL and MariaDB, by mysql2; `tx` is its `Knex.Transaction`, over a connection of its own pool. */
import type { Database } from '../database.ts'
import { begun, lent } from '../lent.ts'
import { rowsOf } from '../mysql-rows.ts'
import { fromMysql2, type Mysql2Connection, type Mysql2Options, type Mysql2Pool } from '../mysql2.ts'
import { ask } from '../mysql2-flights.ts'
import { acquire, expectDriver, type KnexInstance, type KnexTransaction, poolSize, transactionOver } from './client.ts'

/** mysql2's connection without promises, as Knex has it. */
interface Raw {
  query(options: object, answered: (error: Error | null, result: unknown) => void): void
  promise(): Mysql2Connection
  destroy(): void
}

/** Options are those of `fromMysql2`. */
export function fromKnex<Tx extends KnexTransaction>(
  knex: KnexInstance<Tx>,
  options: Mysql2Options = {},
): Database<Tx> {
  expectDriver(knex, 'mysql2')
  const size = poolSize(knex)
  const inner = fromMysql2(poolOf(knex), size === undefined ? options : { connections: size, ...options })
  return lent(inner, {
    on:
      (tx) =>
      async ({ text, params }) =>
        rowsOf(await ask(promising((await acquire(tx)) as Raw), text, params)),
    async lend({ connection }: Mysql2Connection & { readonly connection?: object }) {
      const line = begun(connection as Raw, function answered(...sent) {
        const callback = sent.at(-1) as (error: null, result: object) => void
        callback(null, { affectedRows: 0 })
      })
      const tx = await transactionOver<Tx>(knex, line.connection)
      line.begun()
      return tx
    },
  })
}

function poolOf(knex: KnexInstance<KnexTransaction>): Mysql2Pool<Mysql2Connection> {
  return {
    async getConnection() {
      const raw = (await acquire(knex)) as Raw
      const giveBack = (): void => void knex.client.releaseConnection(raw)
      return Object.assign(raw.promise(), {
        release: giveBack,
        // Knex looks at a connection before it hands it out again, and finds it ended.
        destroy() {
          raw.destroy()
          giveBack()
        },
      })
    },
  }
}

function promising(raw: Raw): object {
  return {
    query: (options: object) =>
      new Promise((resolve, reject) => {
        raw.query(options, (error, result) => (error ? reject(error) : resolve([result])))
      }),
  }
}
