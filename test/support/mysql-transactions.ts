// Transaction mode on a real MariaDB: a database of its own for each file, effects to count, and everything that a test may do to it.
import type { Pool, PoolConnection, PoolOptions, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { identify } from '../../packages/oncekey/src/core/operation.ts'
import type { InTransaction, Store } from '../../packages/oncekey/src/core/store.ts'
import type { Database } from '../../packages/oncekey/src/stores/database/database.ts'
import { fromMysql2 } from '../../packages/oncekey/src/stores/database/mysql2.ts'
import { mysqlDialect } from '../../packages/oncekey/src/stores/mysql/dialect.ts'
import { type MysqlOptions, mysql } from '../../packages/oncekey/src/stores/mysql/index.ts'
import { transactionalFrom } from '../../packages/oncekey/src/stores/mysql/options.ts'
import { schemaGuard } from '../../packages/oncekey/src/stores/mysql/schema-guard.ts'
import { NOW } from '../../packages/oncekey/src/stores/mysql/statements/columns.ts'
import type { Dialect } from '../../packages/oncekey/src/stores/transactional/dialect.ts'
import { transactional } from '../../packages/oncekey/src/stores/transactional.ts'
import { commitFaults } from '../../packages/oncekey/src/testing/commit-faults.ts'
import type { Settings, Subject } from '../../packages/oncekey/src/testing/store-contract/subject.ts'
import { freshMariadb, onMariadb, poolAt } from './mariadb.ts'

type Grant = InTransaction<PoolConnection>

export interface MysqlPlace {
  readonly url: string
  readonly pool: Pool
  /** A pool of a test's own, closed with the file. */
  open(url?: string, options?: PoolOptions): Pool
  /** How many effects stand under this mark, seen from outside. */
  count(mark: string): Promise<number>
  write(tx: Pick<PoolConnection, 'query'>, mark: string): Promise<void>
  /** `vary`: a fault to plant. */
  make(
    connect: (pool: Pool) => Database<PoolConnection>,
    vary?: (dialect: Dialect) => Dialect,
  ): (settings: Settings) => Subject<Grant>
}

/** Call it inside `describeMariadb`. */
export function mysqlPlace(): MysqlPlace {
  const fresh = freshMariadb()
  const pools: Pool[] = []
  let pool: Pool

  function open(url: string = fresh.url, options: PoolOptions = {}): Pool {
    const opened = poolAt(url, options)
    pools.push(opened)
    return opened
  }
  beforeAll(async () => {
    pool = open()
    await mysql(fromMysql2(pool)).admin.migrate()
    await pool.query('create table effect (mark varchar(200) not null) engine = InnoDB')
  })
  afterAll(() => Promise.all(pools.map((opened) => opened.end())))

  async function count(mark: string): Promise<number> {
    const [rows] = await pool.query<RowDataPacket[]>('select count(*) as n from effect where mark = ?', [mark])
    return Number(rows[0]?.n)
  }
  async function write(tx: Pick<PoolConnection, 'query'>, mark: string): Promise<void> {
    await tx.query('insert into effect (mark) values (?)', [mark])
  }

  return {
    get url() {
      return fresh.url
    },
    get pool() {
      return pool
    },
    open,
    count,
    write,
    make: (connect, vary) =>
      function subject({ retain, work, claimMs, drain }) {
        const options: MysqlOptions = {
          ...(retain === undefined ? {} : { retain }),
          ...(work === undefined ? {} : { work }),
          ...(claimMs === undefined ? {} : { claimMs }),
          ...(drain === undefined ? {} : { drain }),
        }
        const faults = commitFaults(connect(pool))
        const factory = (): Store<Grant> => {
          const { database } = faults
          if (!vary) return mysql(database, options)
          const guard = schemaGuard(database, { prefix: 'oncekey_', durability: 'every-commit' })
          const { admin } = mysql(database, options)
          const told = transactionalFrom(database, options)
          return transactional(database, vary(mysqlDialect('oncekey_', guard)), { name: 'broken', admin, ...told })
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
              await raw(tx).query(how)
            },
            async intrude(operation) {
              const { id, prints } = identify(operation)
              await pool.query(
                `insert into oncekey_record (k, fingerprint, state, expires_at)
                 values (unhex(?), unhex(?), 5, ${NOW} + 3600000000)
                 on duplicate key update expires_at = ${NOW} + 3600000000`,
                [id, prints[0]],
              )
            },
            befallCommit: faults.befallCommit,
          },
          async sever() {
            const name = new URL(fresh.url).pathname.slice(1)
            const sessions = await onMariadb(`select id from information_schema.processlist where db = '${name}'`)
            for (const { id } of sessions) await onMariadb(`kill ${id}`).catch(() => {})
          },
          async damage(id) {
            await pool.query('update oncekey_record set state = 42 where k = unhex(?)', [id])
          },
          [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
        }
      },
  }
}

/** The connection behind a guarded handle: in here nobody refuses a COMMIT. */
function raw(tx: PoolConnection): PoolConnection {
  return Object.getPrototypeOf(tx) as PoolConnection
}

/** A sweep sees the whole table, what the test before left there too. */
export function emptied(place: MysqlPlace): void {
  beforeEach(async () => {
    await place.pool.query('delete from oncekey_record')
  })
}
