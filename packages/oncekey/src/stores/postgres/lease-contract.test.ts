import pg from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { describePostgres, freshSchema } from '../../../../../test/support/postgres.ts'
import { milliseconds } from '../../core/clock.ts'
import type { LeasedInDatabase, Store } from '../../core/store.ts'
import { faulty } from '../../testing/faulty.ts'
import type { Settings, Subject } from '../../testing/store-contract/subject.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { fromPg } from '../database/pg.ts'
import { leased } from '../leased.ts'
import { postgresAdmin } from './admin.ts'
import { postgres } from './index.ts'
import { leaseDriver } from './lease.ts'
import { schemaGuard } from './schema-guard.ts'

type Grant = LeasedInDatabase<pg.PoolClient>

describePostgres('lease mode on PostgreSQL', () => {
  const place = freshSchema()
  const clock = freshSchema()
  let pool: pg.Pool
  let moved: pg.Pool

  beforeAll(async () => {
    pool = openPool(place.url)
    await postgres(fromPg(pool), place).admin.migrate()
    await pool.query(`
      create table ${place.schema}.effect (mark text not null);
      create table ${clock.schema}.clock (at timestamptz not null);
      insert into ${clock.schema}.clock values (pg_catalog.clock_timestamp());
      create function ${clock.schema}.clock_timestamp() returns timestamptz language sql as 'select at from ${clock.schema}.clock';
      create function ${clock.schema}.now() returns timestamptz language sql stable as 'select at from ${clock.schema}.clock'`)
    // The server's clock cannot be set, but a session can be given another one: it stands still until a rule moves it.
    moved = openPool(place.url, `-c search_path=${clock.schema},pg_catalog`)
    await Promise.all(Array.from({ length: 10 }, () => moved.query('select pg_sleep(0.05)')))
  })
  afterAll(() => Promise.all([pool.end(), moved.end()]))

  function openPool(connectionString: string, options = ''): pg.Pool {
    const opened = new pg.Pool({ connectionString, options, max: 10 })
    opened.on('error', () => {})
    return opened
  }

  function factory(settings: Settings): Store<Grant> {
    return postgres(fromPg(pool), { mode: 'lease', schema: place.schema, ...settings })
  }

  /** The factory's own parts, with faults between bracket and port. */
  function withFaults(settings: Settings) {
    const database = fromPg(moved)
    const retainMs = milliseconds(settings.retain ?? '24h', 'retain')
    const guard = schemaGuard(database, place.schema)
    const admin = postgresAdmin(database, { schema: place.schema, retainMs, guard })
    const { driver, faults } = faulty(leaseDriver(database, { schema: place.schema, admin, guard }))
    // What is enough for a store in memory is too little for a server that shares two cores with these tests.
    const claimMs = Math.max(1_000, milliseconds(settings.claimMs ?? 0, 'claimMs'))
    return { store: leased(driver, { ...settings, claimMs }), faults }
  }

  /** A sweep sees the whole table, what the rule before left there too. */
  async function empty(): Promise<void> {
    await pool.query(`delete from ${place.schema}.record`)
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
          await tx.query(`insert into ${place.schema}.effect (mark) values ($1)`, [mark])
        },
        async count(mark) {
          const { rows } = await pool.query(`select count(*)::int as n from ${place.schema}.effect where mark = $1`, [
            mark,
          ])
          return rows[0].n
        },
      },
      async damage(id) {
        await pool.query(`update ${place.schema}.record set state = 42 where k = $1`, [id])
      },
      async advance(ms) {
        await pool.query(`update ${clock.schema}.clock set at = at + $1::float8 * interval '1 ms'`, [ms])
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
    { ...shown, name: 'Postgres, lease mode, by pg, its clock moved, replies lost', clock: 'moved', faults: true },
    { runner: { describe, it } },
  )

  storeContract(
    async (settings) => {
      await empty()
      return subject(factory(settings), () => factory(settings))
    },
    { ...shown, name: 'Postgres, lease mode, by pg', clock: 'real' },
    { runner: { describe, it } },
  )
})
