/** The port over Kysely on MySQL and MariaDB; `tx` is its `Transaction`, over a connection of the pool that is behind it. */
import type { Database, Row } from '../database.ts'
import { lent, unreachable } from '../lent.ts'
import type { Mysql2Connection } from '../mysql2.ts'
import { type Connection, type KyselyInstance, type Result, send, transactionOver } from './transaction.ts'

/** Kysely keeps its pool to itself, so that it has to be told twice: `fromKysely(db, fromMysql2(pool))`. */
export function fromKysely<Tx>(db: KyselyInstance<Tx>, over: Database<Mysql2Connection>): Database<Tx> {
  if (over === undefined) throw unreachable('fromKysely', 'Say its pool too: `fromKysely(db, fromMysql2(pool))`.')
  return lent(over, {
    on: (tx) => async (statement) => {
      const params = statement.params.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))
      return written(await send(tx, { ...statement, params }))
    },
    lend: (client) => transactionOver(db, connectionOver(client)),
  })
}

interface Header {
  readonly insertId?: number
  readonly affectedRows?: number
  readonly changedRows?: number
}

function connectionOver(client: object): Connection {
  return {
    async executeQuery({ sql, parameters }) {
      const { query } = client as { query(sql: string, values: readonly unknown[]): Promise<readonly unknown[]> }
      const [result] = await query(sql, parameters)
      if (Array.isArray(result)) return { rows: result }
      const { insertId, affectedRows, changedRows } = result as Header
      return {
        rows: [],
        ...(insertId ? { insertId: BigInt(insertId) } : {}),
        ...(affectedRows === undefined ? {} : { numAffectedRows: BigInt(affectedRows) }),
        ...(changedRows === undefined ? {} : { numChangedRows: BigInt(changedRows) }),
      }
    },
  }
}

/** A write of ours is answered with how many rows it wrote, as over mysql2. */
function written({ rows, numAffectedRows, insertId }: Result): readonly Row[] {
  if (numAffectedRows === undefined) return rows as readonly Row[]
  return [{ affected: Number(numAffectedRows), inserted: Number(insertId ?? 0) }]
}
