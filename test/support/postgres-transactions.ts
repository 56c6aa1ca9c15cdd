// Transaction mode on a real PostgreSQL: a schema of its own for each file, effects to count, and everything that a test may do to it.
import pg from 'pg'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { InTransaction, Store } from '../../packages/oncekey/src/core/store.ts'
import type { Database } from '../../packages/oncekey/src/stores/database/database.ts'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { type PostgresOptions, postgres } from '../../packages/oncekey/src/stores/postgres/index.ts'
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
  make(connect: Connect): (settings: Settings) => Subject<Grant>
}

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
    async behind(tx) {
      const { rows } = await tx.query('select pg_backend_pid() as pid')
      const client = clients.get(rows[0].pid)
      if (!client) throw new Error('a connection that no pool of this place has opened')
      return client
    },
    make: (connect) =>
      function subject({ retain, work, claimMs, drain }) {
        const options: PostgresOptions = {
          schema: place.schema,
          ...(retain === undefined ? {} : { retain }),
          ...(work === undefined ? {} : { work }),
          ...(claimMs === undefined ? {} : { claimMs }),
          ...(drain === undefined ? {} : { drain }),
        }
        const factory = (): Store<Grant> => postgres(connect(pool), options)
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
