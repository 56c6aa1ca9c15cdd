/** The port over Kysely on PostgreSQL; `tx` is its `Transaction`, over a connection of the pool that is behind it. */
import type { Database, Row } from '../database.ts'
import { lent, unreachable } from '../lent.ts'
import { type Connection, type KyselyInstance, send, transactionOver } from './transaction.ts'

/** What is used of a connection: `pg`'s. */
interface Client {
  query(text: string): Promise<unknown>
}
interface Result {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: readonly unknown[]
}

/**
 * Kysely keeps its pool to itself, so that it has to be told twice: `fromKysely(db, fromPg(pool))`. Logging and
 * `onReserveConnection` belong to Kysely's own connections, and streaming too.
 */
export function fromKysely<Tx>(db: KyselyInstance<Tx>, over: Database<Client>): Database<Tx> {
  if (over === undefined) throw unreachable('fromKysely', 'Say its pool too: `fromKysely(db, fromPg(pool))`.')
  return lent(over, {
    on: (tx) => async (statement) => (await send(tx, statement)).rows as readonly Row[],
    lend: (client) => transactionOver(db, connectionOver(client)),
  })
}

function connectionOver(client: object): Connection {
  return {
    async executeQuery({ sql, parameters }) {
      const { query } = client as { query(text: string, values: readonly unknown[]): Promise<Result> }
      const { command, rowCount, rows } = await query(sql, [...parameters])
      const counts = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command)
      return { rows: rows ?? [], ...(counts ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) }
    },
  }
}
