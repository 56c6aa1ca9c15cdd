/** The port over TypeORM on PostgreSQL; `tx` is its `EntityManager`, over a connection of its own pool. */
import type { Database } from '../database.ts'
import { begun, unreachable } from '../lent.ts'
import { fromPg, type PgClient, type PgOptions, type PgPool } from '../pg.ts'
import { managed, runnerOf, runnerOver, type TypeormSource } from './runner.ts'

/** After `initialize()`. Options are those of `fromPg`. */
export function fromTypeorm<Manager>(source: TypeormSource<Manager>, options: PgOptions = {}): Database<Manager> {
  const { master } = source.driver as { readonly master?: PgPool<PgClient> }
  if (typeof master?.connect !== 'function')
    throw unreachable(
      'fromTypeorm',
      'Call it after `await dataSource.initialize()`, on a data source of type postgres.',
    )
  const inner = fromPg(master, options)
  return managed(inner, {
    on: (manager) => async (statement) => inner.on((await runnerOf(manager).connect()) as PgClient)(statement),
    async lend(client) {
      const line = begun(client, async () => ({ rows: [], command: 'BEGIN' }))
      const runner = await runnerOver(source, line.connection)
      line.begun()
      return runner
    },
  })
}
