/** The exact gates of transaction mode: counted, not timed, so that the load of the machine does not matter. */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { describePostgres, onPostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, never, operation } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { faultProxy } from '../../testing/proxy.ts'
import { fromPg } from '../database/pg.ts'
import { postgres, type TransactionalStore } from './index.ts'

describePostgres('what an operation costs in transaction mode', () => {
  const place = transactionPlace()
  const { run } = chargesAt(place)

  describe('flights, one work statement', () => {
    it('a new key takes three, a replay one: its rollback is not waited for', async () => {
      const proxy = await faultProxy({ to: place.url, latencyMs: 5 })
      const store = postgres(fromPg(place.open(proxy.url, { max: 1 })), { schema: place.schema })
      const charge = operation()
      await run(operation(), undefined, {}, store)
      expect(await flown(() => run(charge, undefined, {}, store))).toEqual({ kind: 'ran', answered: 3 })
      expect(await flown(() => run(charge, never, {}, store))).toEqual({ kind: 'replayed', answered: 1 })
      const other = { ...charge, fingerprints: ['another'] as const }
      expect(await flown(() => run(other, never, {}, store))).toEqual({ kind: 'mismatch', answered: 1 })
      await proxy[Symbol.asyncDispose]()

      async function flown(once: () => Promise<{ readonly kind: string }>) {
        const before = proxy.flights.answered
        const { kind } = await once()
        const { answered } = proxy.flights
        await place.pool.query('select pg_sleep(0.03)')
        return { kind, answered: answered - before }
      }
    })
  })

  describe('WAL, by the backend’s own counters (PostgreSQL 18)', () => {
    let pool: pg.Pool
    let store: TransactionalStore<pg.PoolClient>
    let counts = false

    beforeAll(async () => {
      const [row] = (await onPostgres("select current_setting('server_version_num')::int as version")).rows
      counts = row.version >= 180_000
      pool = place.open(undefined, { max: 1 })
      store = postgres(fromPg(pool), { schema: place.schema })
      await run(operation(), undefined, {}, store)
    })

    async function counters() {
      await pool.query('select pg_stat_force_next_flush()')
      const pid = (await pool.query('select pg_backend_pid() as pid')).rows[0].pid
      const { rows } = await place.pool.query(
        `select (pg_stat_get_backend_wal($1)).wal_bytes::int as bytes,
                (select coalesce(sum(fsyncs), 0)::int from pg_stat_get_backend_io($1) where object = 'wal') as fsyncs`,
        [pid],
      )
      return { pid, ...rows[0] }
    }
    async function costOf(times: number, one: () => Promise<unknown>) {
      const before = await counters()
      for (let at = 0; at < times; at += 1) await one()
      const after = await counters()
      // Every rollback gives its connection back: no handshake, no new backend.
      expect(after.pid).toBe(before.pid)
      return { bytes: after.bytes - before.bytes, fsyncs: after.fsyncs - before.fsyncs }
    }

    /**
     * The least of three: a page of a catalog that other tests change (their databases come and go) is pruned by
     * whoever reads it next, and that writes. What the operation itself writes, it writes every time.
     */
    async function leastOf(times: number, one: () => Promise<unknown>) {
      const costs = [await costOf(times, one), await costOf(times, one), await costOf(times, one)]
      return costs.sort((a, b) => a.bytes - b.bytes)[0]
    }

    it('a new key waits for one fsync', async (context) => {
      if (!counts) context.skip('the counters of a single backend came with PostgreSQL 18')
      const { fsyncs, bytes } = await costOf(20, () => run(operation(), undefined, {}, store))
      // Never two; less where another backend's fsync covered ours.
      expect(fsyncs).toBeLessThanOrEqual(20)
      expect(fsyncs).toBeGreaterThan(0)
      expect(bytes).toBeGreaterThan(0)
    })
    it('a replay and a mismatch write nothing', async (context) => {
      if (!counts) context.skip('the counters of a single backend came with PostgreSQL 18')
      const charge = operation()
      await run(charge, undefined, {}, store)
      await run(charge, never, {}, store)
      expect(await leastOf(20, () => run(charge, never, {}, store))).toEqual({ bytes: 0, fsyncs: 0 })
      const other = { ...charge, fingerprints: ['another'] as const }
      expect(await leastOf(20, () => run(other, never, {}, store))).toEqual({ bytes: 0, fsyncs: 0 })
    })
    it('a duplicate of what runs writes nothing, and neither does one with another body', async (context) => {
      if (!counts) context.skip('the counters of a single backend came with PostgreSQL 18')
      const charge = operation()
      const other = { ...charge, fingerprints: ['another'] as const }
      const costs = await run(charge, async () => {
        await run(charge, never, {}, store)
        return [
          await leastOf(10, async () => expect((await run(charge, never, {}, store)).kind).toBe('busy')),
          await leastOf(10, async () => expect((await run(other, never, {}, store)).kind).toBe('mismatch')),
        ]
      })
      expect(costs).toMatchObject({
        value: [
          { bytes: 0, fsyncs: 0 },
          { bytes: 0, fsyncs: 0 },
        ],
      })
    })
  })
})
