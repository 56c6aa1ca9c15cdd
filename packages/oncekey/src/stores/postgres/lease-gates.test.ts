/** What lease mode costs, in figures that no load can change: fsyncs, bytes, round trips. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { describePostgres, freshSchema } from '../../../../../test/support/postgres.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { pack } from '../../core/receipt.ts'
import type { LeaseDriver } from '../../core/store.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'
import { leaseDriver } from './lease.ts'

const receipt = pack('answer', new Uint8Array(50))
let flights = 0

/** Each query of a client is one round trip. */
class Counting extends pg.Client {
  override query(...args: unknown[]): never {
    flights += 1
    return super.query(...(args as [never])) as never
  }
}

describePostgres('what lease mode on PostgreSQL costs', () => {
  const place = freshSchema()
  const open: pg.Pool[] = []
  let version = 0

  beforeAll(async () => {
    const pool = connect()
    await postgres(fromPg(pool), place).admin.migrate()
    await pool.query(`create table ${place.schema}.charge (id bigint generated always as identity, note text)`)
    const { rows } = await pool.query(`select current_setting('server_version_num')::int as version`)
    version = rows[0].version
  })
  afterAll(() => Promise.all(open.map((pool) => pool.end())))

  /** One connection, so that its own counters are the ones of what is measured. */
  function connect(options = ''): pg.Pool {
    const pool = new pg.Pool({ connectionString: place.url, max: 1, options, Client: Counting } as pg.PoolConfig)
    pool.on('error', () => {})
    open.push(pool)
    return pool
  }
  function driverOn(pool: pg.Pool): LeaseDriver<pg.PoolClient> {
    return leaseDriver(fromPg(pool), { schema: place.schema, admin: {} as never })
  }

  /** WAL of this backend alone: what other tests write on the same server is not in it. */
  async function walOf(pool: pg.Pool, what: () => Promise<unknown>): Promise<{ fsyncs: number; bytes: number }> {
    const read = async () => {
      await pool.query('select pg_stat_force_next_flush()')
      const { rows } = await pool.query(`
        select (select sum(fsyncs)::int from pg_stat_get_backend_io(pg_backend_pid()) where object = 'wal') as fsyncs,
               (select wal_bytes::float8 from pg_stat_get_backend_wal(pg_backend_pid())) as bytes`)
      return rows[0] as { fsyncs: number; bytes: number }
    }
    const before = await read()
    await what()
    const after = await read()
    return { fsyncs: after.fsyncs - before.fsyncs, bytes: after.bytes - before.bytes }
  }
  const itCounts = (title: string, run: () => Promise<void>) =>
    it(title, async (context) => {
      if (version < 180_000) context.skip('a backend counts its own WAL since PostgreSQL 18')
      await run()
    })

  async function newKeys(driver: LeaseDriver<pg.PoolClient>, keys: number): Promise<void> {
    for (let key = 0; key < keys; key += 1) {
      const owned = wanted()
      const claimed = await driver.claim(owned)
      if (claimed.kind !== 'won') throw new Error('not won')
      await driver.complete({ ...owned, fence: claimed.fence }, { receipt })
    }
  }

  // Another backend's fsync may cover ours, so that there are fewer where other tests write too; never more.
  itCounts('a new key is two fsyncs', async () => {
    const pool = connect()
    const { fsyncs } = await walOf(pool, () => newKeys(driverOn(pool), 50))
    expect(fsyncs).toBeLessThanOrEqual(100)
    expect(fsyncs).toBeGreaterThan(80)
  })

  itCounts(
    'a session with synchronous_commit=off claims and completes as durably, without a flight more (T14)',
    async () => {
      const pool = connect('-c synchronous_commit=off')
      const driver = driverOn(pool)
      await newKeys(driver, 1)
      flights = 0
      const { fsyncs } = await walOf(pool, () => newKeys(driver, 50))
      expect(fsyncs).toBeGreaterThan(80)
      expect(flights).toBe(100 + 4)
      expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }])
    },
  )

  itCounts('a replay, a busy answer, a mismatch and an unknown outcome write no WAL and need no fsync', async () => {
    const pool = connect()
    const driver = driverOn(pool)
    const running = wanted()
    const finished = wanted()
    const unknown = wanted()
    for (const owned of [running, finished, unknown]) {
      const claimed = await driver.claim(owned)
      if (claimed.kind !== 'won') throw new Error('not won')
      const held = { ...owned, fence: claimed.fence }
      if (owned === finished) await driver.complete(held, { receipt })
      if (owned === unknown) await driver.hold(held, 'asked')
    }
    const repeats = [
      ...[running, finished, unknown].map((owned) => repeat(owned)),
      wanted({ key: running.label.key, fingerprints: ['other'] }),
    ]
    const repeatAll = async () => {
      for (const owned of repeats) expect((await driver.claim(owned)).kind).toBe('record')
    }
    // The first look at a page may tidy it.
    await repeatAll()
    // The least of three: whoever next reads a catalog page that other tests have changed may prune it, and writes.
    const costs = [await walOf(pool, repeatAll), await walOf(pool, repeatAll), await walOf(pool, repeatAll)]
    expect(costs).toContainEqual({ fsyncs: 0, bytes: 0 })
  })

  describe('round trips', () => {
    const store = () => postgres(fromPg(connect()), { mode: 'lease', ...place, ...databaseOnly })
    const operation = () => ({ scope: 's', key: randomUUID(), fingerprints: ['f'] as const })

    it('are two for a new key, beside those of its work, and one for a replay', async () => {
      const leased = store()
      await once(leased, operation(), async () => 1)
      flights = 0
      const charge = operation()
      expect((await once(leased, charge, async () => 1)).kind).toBe('ran')
      expect(flights).toBe(2)
      flights = 0
      expect((await once(leased, charge, async () => 1)).kind).toBe('replayed')
      expect(flights).toBe(1)
    })

    it('are four with a transaction of one statement: claim, BEGIN, the statement, the answer with COMMIT', async () => {
      const leased = store()
      await once(leased, operation(), async () => 1)
      flights = 0
      await once(leased, operation(), async ({ begin }) => {
        const tx = await begin()
        await tx.query(`insert into ${place.schema}.charge (note) values ('a') returning id`)
      })
      expect(flights).toBe(4)
    })
  })
})
