// Bytes per completed key of lease mode, as they lie in a table of their own: heap and all indexes.
import pg from 'pg'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { leaseDriver } from '../../packages/oncekey/src/stores/postgres/lease.ts'
import { migrate } from '../../packages/oncekey/src/stores/postgres/migrate.ts'
import { wanted } from './lease-claims.ts'

/** So many that they share their fsyncs; the size does not depend on it. */
const CALLERS = 16

export interface Measuring {
  readonly url: string
  readonly schema: string
  readonly keys: number
  readonly receipt: Uint8Array
}

/** Claims and completes `keys` keys on the empty tables of a schema that it makes. */
export async function bytesPerKey({ url, schema, keys, receipt }: Measuring): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: CALLERS })
  pool.on('error', () => {})
  try {
    const database = fromPg(pool)
    await migrate(database, { schema })
    const driver = leaseDriver(database, { schema, admin: {} as never })
    let left = keys
    async function work(): Promise<void> {
      while (left-- > 0) {
        const owned = wanted()
        const claimed = await driver.claim(owned)
        if (claimed.kind !== 'won') throw new Error('not won')
        await driver.complete({ ...owned, fence: claimed.fence }, { receipt })
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, work))
    const { rows } = await pool.query(`select pg_table_size($1::regclass) + pg_indexes_size($1::regclass) as bytes`, [
      `${schema}.record`,
    ])
    return Number(rows[0].bytes) / keys
  } finally {
    await pool.end()
  }
}
