/** Lease mode on MariaDB, held to the contract that every store is held to. */
import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { describeMariadb, freshMariadb, poolAt } from '../../../../../test/support/mariadb.ts'
import { milliseconds } from '../../core/clock.ts'
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import { faulty } from '../../testing/faulty.ts'
import type { Settings, Subject } from '../../testing/store-contract/subject.ts'
import { storeContract } from '../../testing/store-contract.ts'
import type { Database } from '../database/database.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { leased } from '../leased.ts'
import { mysqlAdmin } from './admin.ts'
import { mysql } from './index.ts'
import { leaseDriver } from './lease.ts'
import { schemaGuard } from './schema-guard.ts'
import { NOW } from './statements/columns.ts'

type Grant = LeasedInDatabase<PoolConnection>
const tables = { prefix: 'oncekey_', durability: 'every-commit' } as const

describeMariadb('lease mode on MariaDB', () => {
  const place = freshMariadb()
  let pool: Pool
  let moved: Database<PoolConnection>
  let now: number

  beforeAll(async () => {
    pool = poolAt(place.url)
    await mysql(fromMysql2(pool)).admin.migrate()
    await pool.query('create table effect (mark varchar(200) not null) engine = InnoDB')
    const [rows] = await pool.query<RowDataPacket[]>(`select ${NOW} as now`)
    now = Number(rows[0]?.now)
    const others = poolAt(place.url)
    afterAll(() => others.end())
    // The server's clock cannot be set, but a session can be given another one: it stands still until a rule moves it.
    moved = fromMysql2({
      async getConnection() {
        const connection = await others.getConnection()
        await connection.query(`set timestamp = ${(now / 1_000_000).toFixed(6)}`)
        return connection
      },
    })
  })
  afterAll(() => pool.end())

  function factory(settings: Settings): Store<Grant> {
    return mysql(fromMysql2(pool), { mode: 'lease', ...settings })
  }

  /** The factory's own parts, with faults between bracket and port. */
  function withFaults(settings: Settings) {
    const guard = schemaGuard(moved, tables)
    const retainMs = milliseconds(settings.retain ?? '24h', 'retain')
    const admin = mysqlAdmin(moved, { prefix: tables.prefix, guard, retainMs })
    const { driver, faults } = faulty(leaseDriver(moved, { prefix: tables.prefix, guard, admin }))
    // What is enough for a store in memory is too little for a server that shares two cores with these tests.
    const claimMs = Math.max(1_000, milliseconds(settings.claimMs ?? 0, 'claimMs'))
    return { store: leased(driver, { ...settings, claimMs }), faults }
  }

  /** A sweep sees the whole table, what the rule before left there too. */
  async function empty(): Promise<void> {
    await pool.query('delete from oncekey_record')
  }

  function subject(store: Store<Grant>, open: () => Store<Grant>): Subject<Grant> {
    let current = store
    return {
      store,
      another: open,
      async reopen() {
        await current[Symbol.asyncDispose]()
        current = open()
        return current
      },
      effects: {
        async write(grant, mark) {
          const tx = await grant.begin()
          await tx.query('insert into effect (mark) values (?)', [mark])
        },
        async count(mark) {
          const [rows] = await pool.query<RowDataPacket[]>('select count(*) as n from effect where mark = ?', [mark])
          return Number(rows[0]?.n)
        },
      },
      async damage(id) {
        await pool.query('update oncekey_record set state = 42 where k = unhex(?)', [id])
      },
      async advance(ms) {
        now += ms * 1_000
      },
      [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
    }
  }

  const shown = { mode: 'lease', several: true, reopen: true, effects: true, damage: true } as const

  storeContract(
    async (settings) => {
      await empty()
      const { store, faults } = withFaults(settings)
      return { ...subject(store, () => withFaults(settings).store), faults }
    },
    { ...shown, name: 'MariaDB, lease mode, by mysql2, its clock moved, replies lost', clock: 'moved', faults: true },
    { runner: { describe, it } },
  )

  storeContract(
    async (settings) => {
      await empty()
      return subject(factory(settings), () => factory(settings))
    },
    { ...shown, name: 'MariaDB, lease mode, by mysql2', clock: 'real' },
    { runner: { describe, it } },
  )
})
