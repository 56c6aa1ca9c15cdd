/** The port over Knex on PostgreSQL; `tx` is its `Knex.Transaction`, over a connection of its own pool. */
import type { Database } from '../database.ts'
import { begun, lent } from '../lent.ts'
import { fromPg, type PgClient, type PgOptions, type PgPool } from '../pg.ts'
import { acquire, expectDriver, type KnexInstance, type KnexTransaction, poolSize, transactionOver } from './client.ts'

/** Options are those of `fromPg`. */
export function fromKnex<Tx extends KnexTransaction>(knex: KnexInstance<Tx>, options: PgOptions = {}): Database<Tx> {
  expectDriver(knex, 'pg')
  const inner = fromPg(poolOf(knex), options)
  return lent(inner, {
    on: (tx) => async (statement) => inner.on((await acquire(tx)) as PgClient)(statement),
    async lend(client) {
      const line = begun(client, function answered(_config: unknown, callback: unknown) {
        ;(callback as (error: null, result: object) => void)(null, { rows: [], command: 'BEGIN' })
      })
      const tx = await transactionOver<Tx>(knex, line.connection)
      line.begun()
      return tx
    },
  })
}

function poolOf(knex: KnexInstance<KnexTransaction>): PgPool<PgClient> {
  const size = poolSize(knex)

  async function connect(): Promise<PgClient> {
    const client = (await acquire(knex)) as Raw
    // A pool of `pg` itself may be behind Knex: its clients know the way back.
    client.release ??= function release(destroy) {
      if (destroy) {
        client.__knex__disposed = destroy
        client.end().catch(() => {})
      }
      void knex.client.releaseConnection(client)
    }
    return client as PgClient
  }
  return {
    connect,
    async query(...sent: unknown[]) {
      const client = await connect()
      try {
        return await (client.query as (...args: unknown[]) => Promise<unknown>).apply(client, sent)
      } finally {
        client.release()
      }
    },
    ...(size === undefined ? {} : { options: { max: size } }),
  }
}

type Raw = Omit<PgClient, 'release'> & {
  release?: PgClient['release']
  end(): Promise<void>
  __knex__disposed?: unknown
}
