// Transaction mode on a real PostgreSQL: a schema of its own for each file, effects to count, and everything that a test may do to it.
import pg from 'pg'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { identify } from '../../packages/oncekey/src/core/operation.ts'
import type { InTransaction, Store } from '../../packages/oncekey/src/core/store.ts'
import type { Database } from '../../packages/oncekey/src/stores/database/database.ts'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { postgresDialect } from '../../packages/oncekey/src/stores/postgres/dialect.ts'
import { type PostgresOptions, postgres } from '../../packages/oncekey/src/stores/postgres/index.ts'
import { transactionalFrom } from '../../packages/oncekey/src/stores/postgres/options.ts'
import { transactional } from '../../packages/oncekey/src/stores/transactional.ts'
import type { Parts } from '../../packages/oncekey/src/testing/broken/transaction.ts'
import { commitFaults } from '../../packages/oncekey/src/testing/commit-faults.ts'
import type { Settings, Subject } from '../../packages/oncekey/src/testing/store-contract/subject.ts'
import { freshSchema } from './postgres.ts'

type Grant = InTransaction<pg.PoolClient>
export type Connect = (pool: pg.Pool) => Database<pg.PoolClient>

export interface Place {
  readonly url: string
  readonly schema: string
  readonly pool: pg.Pool
  /** A pool of a test's own, closed with the file. */
  open(url?: string, options?: pg.PoolConfig): pg.Pool
  /** How many effects stand under this mark, seen from outside. */
  count(mark: string): Promise<number>
  write(tx: pg.PoolClient, mark: string): Promise<void>
  /** The client behind a guarded handle. */
  behind(tx: pg.PoolClient): Promise<pg.PoolClient>
  make(connect: Connect, vary?: Vary): (settings: Settings) => Subject<Grant>
}
/** A fault to plant in the parts of a store. */
export type Vary = <Tx>(parts: Parts<Tx>) => Parts<Tx>

/** Call it inside `describePostgres`. */
export function transactionPlace(): Place {
  const place = freshSchema()
  const clients = new Map<number, pg.PoolClient>()
  const pools: pg.Pool[] = []
  let pool: pg.Pool

  function open(url: string = place.url, options: pg.PoolConfig = {}): pg.Pool {
    const opened = new pg.Pool({ connectionString: url, max: 10, ...options })
    opened.on('error', () => {})
    opened.on('connect', (client) => clients.set((client as pg.PoolClient & { processID: number }).processID, client))
    pools.push(opened)
    return opened
  }

  beforeAll(async () => {
    pool = open()
    await postgres(fromPg(pool), place).admin.migrate()
    await pool.query(`create table ${place.schema}.effect (mark text not null)`)
  })
  afterAll(() => Promise.all(pools.map((opened) => opened.end())))

  async function count(mark: string): Promise<number> {
    const { rows } = await pool.query(`select count(*)::int as n from ${place.schema}.effect where mark = $1`, [mark])
    return rows[0].n
  }
  async function write(tx: pg.PoolClient, mark: string): Promise<void> {
    await tx.query(`insert into ${place.schema}.effect (mark) values ($1)`, [mark])
  }

  async function behind(tx: pg.PoolClient): Promise<pg.PoolClient> {
    const { rows } = await tx.query('select pg_backend_pid() as pid')
    const client = clients.get(rows[0].pid)
    if (!client) throw new Error('a connection that no pool of this place has opened')
    return client
  }

  return {
    get url() {
      return place.url
    },
    schema: place.schema,
    get pool() {
      return pool
    },
    open,
    count,
    write,
    behind,
    make: (connect, vary) =>
      function subject({ retain, work, claimMs, drain }) {
        const options: PostgresOptions = {
          schema: place.schema,
          ...(retain === undefined ? {} : { retain }),
          ...(work === undefined ? {} : { work }),
          ...(claimMs === undefined ? {} : { claimMs }),
          ...(drain === undefined ? {} : { drain }),
        }
        const faults = commitFaults(connect(pool))
        const factory = (): Store<Grant> => {
          if (!vary) return postgres(faults.database, options)
          const { database, dialect } = vary({ database: faults.database, dialect: postgresDialect(place.schema) })
          const told = transactionalFrom(database, options)
          const { admin } = postgres(database, options)
          return transactional(database, dialect, { name: 'broken', admin, ...told })
        }
        let store = factory()
        return {
          store,
          another: factory,
          async reopen() {
            await store[Symbol.asyncDispose]()
            store = factory()
            return store
          },
          effects: { write: (grant, mark) => write(grant.tx, mark), count },
          behind: {
            async end({ tx }, how) {
              const raw = await behind(tx)
              await raw.query(how)
            },
            async intrude(operation) {
              const { id, prints } = identify(operation)
              await pool.query(
                `insert into ${place.schema}.record (k, fingerprint, state, expires_at)
                 values ($1, $2, 5, clock_timestamp() + interval '1 hour')
                 on conflict (k) do update set expires_at = excluded.expires_at`,
                [id, prints[0]],
              )
            },
            befallCommit: faults.befallCommit,
          },
          async damage(id) {
            await pool.query(`update ${place.schema}.record set state = 42 where k = $1`, [id])
          },
          [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
        }
      },
  }
}

/** A sweep sees the whole table, what the test before left there too. */
export function emptied(place: Place): void {
  beforeEach(async () => {
    await place.pool.query(`delete from ${place.schema}.record`)
  })
}
