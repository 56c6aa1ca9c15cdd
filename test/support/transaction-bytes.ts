// The size of completed keys in transaction mode, written by the store's own statements, some hundred to a flight.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { identify } from '../../packages/oncekey/src/core/operation.ts'
import { inline } from '../../packages/oncekey/src/stores/database/inline.ts'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { postgres } from '../../packages/oncekey/src/stores/postgres/index.ts'
import { namesIn } from '../../packages/oncekey/src/stores/postgres/names.ts'
import { insert } from '../../packages/oncekey/src/stores/postgres/statements/insert.ts'

export interface Keys {
  readonly url: string
  readonly schema: string
  readonly keys: number
  readonly receipt: Uint8Array
  /** As UUIDv7: their time stands in front. */
  readonly ordered: boolean
}

/** Heap and all indexes, for each key. */
export async function transactionBytesPerKey({ url, schema, keys, receipt, ordered }: Keys): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  try {
    await postgres(fromPg(pool), { schema }).admin.migrate()
    const names = namesIn(schema)
    const client = await pool.connect()
    for (let from = 0; from < keys; from += 500) {
      await client.query('begin')
      const { rows } = await client.query('select (extract(epoch from now()) * 1000000)::bigint::text as opened')
      const statements = Array.from({ length: Math.min(500, keys - from) }, (_, at) => {
        const key = ordered ? timeOrdered(from + at) : randomUUID()
        const { id, prints } = identify({ scope: 'tenant', key, fingerprints: ['body'] })
        return inline(
          insert(names, {
            id,
            print: prints[0],
            state: 4,
            body: receipt,
            opened: rows[0].opened,
            keepMs: 86_400_000,
            tombstoneMs: null,
            carries: false,
          }),
        )
      })
      await client.query(statements.join(';'))
      await client.query('commit')
    }
    client.release()
    const { rows } = await pool.query(
      `select pg_total_relation_size('${names.record}')::int as bytes, count(*)::int as n from ${names.record}`,
    )
    if (rows[0].n !== keys) throw new Error(`${rows[0].n} keys`)
    return rows[0].bytes / keys
  } finally {
    await pool.end()
  }
}

function timeOrdered(at: number): string {
  const time = (1_700_000_000_000 + at).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
