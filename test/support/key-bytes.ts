// Bytes per completed key of lease mode, as they lie in a table of their own: heap and all indexes.
import pg from 'pg'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { leaseDriver } from '../../packages/oncekey/src/stores/postgres/lease.ts'
import { migrate } from '../../packages/oncekey/src/stores/postgres/migrate.ts'
import { wanted } from './lease-claims.ts'

export interface Measuring {
  readonly url: string
  readonly schema: string
  readonly keys: number
  readonly receipt: Uint8Array
}

/** Claims and completes `keys` keys on the empty tables of a schema that it makes. */
export async function bytesPerKey({ url, schema, keys, receipt }: Measuring): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  try {
    const database = fromPg(pool)
    await migrate(database, { schema })
    const driver = leaseDriver(database, { schema, admin: {} as never })
    // One after another: a dead claim is pruned from its page only where no other snapshot may still see it.
    for (let key = 0; key < keys; key += 1) {
      const owned = wanted()
      const claimed = await driver.claim(owned)
      if (claimed.kind !== 'won') throw new Error('not won')
      await driver.complete({ ...owned, fence: claimed.fence }, { receipt })
    }
    const { rows } = await pool.query(`select pg_table_size($1::regclass) + pg_indexes_size($1::regclass) as bytes`, [
      `${schema}.record`,
    ])
    return Number(rows[0].bytes) / keys
  } finally {
    await pool.end()
  }
}
