// The lease port on a fresh schema of a real PostgreSQL, and what its tests do to rows that no driver would.
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { judge } from '../../packages/oncekey/src/core/record.ts'
import type { Admin, Held, Owned } from '../../packages/oncekey/src/core/store.ts'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import type { BeginningDriver } from '../../packages/oncekey/src/stores/leased.ts'
import { postgresAdmin } from '../../packages/oncekey/src/stores/postgres/admin.ts'
import { leaseDriver } from '../../packages/oncekey/src/stores/postgres/lease.ts'
import { freshSchema } from './postgres.ts'

export interface Row {
  readonly state: number
  readonly token: string | null
  readonly fence: string | null
  readonly fingerprint: string
  readonly body: Buffer
  /** Milliseconds from now. */
  readonly ends: number | null
  readonly leaseEnds: number | null
}

export interface LeasePort {
  readonly schema: string
  readonly url: string
  /** The table of records, qualified. */
  readonly record: string
  readonly pool: pg.Pool
  readonly driver: BeginningDriver<pg.PoolClient>
  readonly admin: Admin
  row(id: string): Promise<Row | undefined>
  /** Writes columns as SQL. */
  set(id: string, columns: string): Promise<void>
  won(owned: Owned): Promise<Held>
  /** The one word that a repeat is told, or `won`. */
  told(owned: Owned): Promise<string>
}

/** Call it inside `describePostgres`. */
export function freshLeasePort(options: { readonly connections?: number; readonly session?: string } = {}): LeasePort {
  const { connections = 8, session = '' } = options
  const place = freshSchema()
  let pool: pg.Pool
  let driver: BeginningDriver<pg.PoolClient>
  let admin: Admin

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: place.url, max: connections, options: session })
    pool.on('error', () => {})
    const database = fromPg(pool)
    admin = postgresAdmin(database, { schema: place.schema, retainMs: 86_400_000 })
    driver = leaseDriver(database, { schema: place.schema, admin })
    await admin.migrate()
  })
  afterAll(() => pool.end())

  return {
    ...place,
    get url() {
      return place.url
    },
    record: `${place.schema}.record`,
    get pool() {
      return pool
    },
    get driver() {
      return driver
    },
    get admin() {
      return admin
    },
    async row(id) {
      const { rows } = await pool.query(
        `select state, token, fence, fingerprint, body,
                (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as ends,
                (extract(epoch from lease_end - clock_timestamp()) * 1000)::float8 as "leaseEnds"
           from ${place.schema}.record where k = $1`,
        [id],
      )
      return rows[0]
    },
    async set(id, columns) {
      await pool.query(`update ${place.schema}.record set ${columns} where k = $1`, [id])
    },
    async won(owned) {
      const claimed = await driver.claim(owned)
      if (claimed.kind !== 'won') throw new Error(`not won: ${JSON.stringify(judge(claimed, owned.prints))}`)
      return { ...owned, fence: claimed.fence }
    },
    async told(owned) {
      const claimed = await driver.claim(owned)
      return claimed.kind === 'won' ? 'won' : judge(claimed, owned.prints, owned.token).kind
    },
  }
}
