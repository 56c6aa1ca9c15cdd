/** Lost replies and lost transactions (T3, T11, T13, T14, O-15, O-53): what is definite, and what is in doubt. */
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, LIVE, never, operation, PAST, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import type { Policy } from '../../core/policy.ts'
import { type FaultProxy, faultProxy } from '../../testing/proxy.ts'
import type { Database } from '../database/database.ts'
import { fromPg } from '../database/pg.ts'
import { STATE } from '../row.ts'
import { postgres, type TransactionalStore } from './index.ts'

/** At the end of its message: the first flight says `read committed`. */
const COMMIT = /commit\0$/

describePostgres('transaction mode, when replies are lost', () => {
  const place = transactionPlace()
  const { run, row, intrude, eventsOf, write } = chargesAt(place)
  let proxy: FaultProxy
  let store: TransactionalStore<pg.PoolClient>

  beforeEach(async () => {
    proxy = await faultProxy({ to: place.url })
    const pool = place.open(proxy.url, { max: 5 })
    store = postgres(fromPg(pool, { commitMs: 500 }), { schema: place.schema })
    await run(operation(), async () => 'warm', {}, store)
  })
  afterEach(() => proxy[Symbol.asyncDispose]())

  describe('T11: COMMIT in doubt is resolved by the record', () => {
    it('carried out, its reply lost: the answer is the record’s', async () => {
      const charge = operation()
      const armed = proxy.next(COMMIT, { kind: 'cut', at: 'answer' })
      const events = await eventsOf(charge, async () => {
        expect(await run(charge, write(charge.key), {}, store)).toMatchObject({ kind: 'replayed', value: 'done' })
      })
      await armed.struck
      expect(events).toEqual(['claimed', 'keeping', 'commit-unknown', 'replayed'])
      expect(await place.count(charge.key)).toBe(1)
    })
    it('never arrived: the key is free', async () => {
      const charge = operation()
      proxy.next(COMMIT, { kind: 'cut', at: 'request' })
      const events = await eventsOf(charge, () =>
        expect(run(charge, write(charge.key), {}, store)).rejects.toMatchObject({ code: 'TRY_AGAIN' }),
      )
      expect(events).toEqual(['claimed', 'keeping', 'commit-unknown', 'freed'])
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge, undefined, {}, store)).kind).toBe('ran')
    })
    it('O-53: carried out over a record that was replaced, its reply lost', async () => {
      const charge = operation()
      await intrude(charge, { state: '5', expires_at: PAST })
      proxy.next(COMMIT, { kind: 'cut', at: 'answer' })
      expect((await run(charge, write(charge.key), {}, store)).kind).toBe('replayed')
      expect(await place.count(charge.key)).toBe(1)
    })
    it('a backend that still commits keeps it in doubt: five seconds, then COMMIT_UNKNOWN, and nobody runs it meanwhile', async () => {
      const charge = operation()
      await place.pool.query(`create table ${place.schema}.slow (id int);
        create function ${place.schema}.sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(9); return null; end $$;
        create constraint trigger sleep after insert on ${place.schema}.slow deferrable initially deferred
          for each row execute function ${place.schema}.sleep()`)
      const slow: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        // Else the server would notice that its client is gone, and roll back.
        await tx.query(`set local client_connection_check_interval = 0; insert into ${place.schema}.slow values (1)`)
        return 'slow'
      }
      const outcome = run(charge, slow, {}, store)
      await expect.poll(() => proxy.connections, { timeout: 5_000 }).toBeGreaterThan(0)
      await expect(outcome).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
      expect((await run(charge, never, {}, store)).kind).toBe('busy')
      await expect.poll(async () => (await run(charge, never, {}, store)).kind, { timeout: 10_000 }).toBe('replayed')
      expect(await place.count(charge.key)).toBe(1)
    })
    it('an answer that does not come in time is in doubt, and its connection never serves again', async () => {
      const charge = operation()
      proxy.next(COMMIT, { kind: 'silence', at: 'answer' })
      expect((await run(charge, write(charge.key), {}, store)).kind).toBe('replayed')
      expect(await place.count(charge.key)).toBe(1)
    })
    it('a connection lost before the last flight is definite', async () => {
      const charge = operation()
      const lost: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        proxy.next('select 1 as lost', { kind: 'cut', at: 'request' })
        await tx.query('select 1 as lost').catch(() => {})
      }
      const events = await eventsOf(charge, () =>
        expect(run(charge, lost, {}, store)).rejects.toMatchObject({ code: 'TRY_AGAIN' }),
      )
      expect(events).not.toContain('commit-unknown')
      expect((await run(charge, undefined, {}, store)).kind).toBe('ran')
    })
  })

  describe('T3: work that ends its own transaction', () => {
    const ends = (charge: ReturnType<typeof operation>, control: string): Work =>
      async function work({ tx }) {
        await place.write(tx, charge.key)
        const raw = await place.behind(tx)
        await raw.query(control)
        return 'mine'
      }
    it.each(['commit', 'rollback', 'commit and chain', 'commit; begin', 'rollback; begin; select 1'])(
      '%s leaves an unknown outcome, and is never run again',
      async (control) => {
        const charge = operation()
        await expect(run(charge, ends(charge, control), {}, store)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
        expect((await run(charge, never, {}, store)).kind).toBe('unknown')
        expect(await place.count(charge.key)).toBe(control.startsWith('commit') ? 1 : 0)
        expect(await row(charge)).toMatchObject({ state: STATE.unknown, fence: null })
      },
    )
    it('over a record that is replaced, too', async () => {
      const charge = operation()
      await intrude(charge, { state: '4', expires_at: PAST })
      await expect(run(charge, ends(charge, 'commit'), {}, store)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
      expect((await run(charge, never, {}, store)).kind).toBe('unknown')
    })
    it('even where that record is another one by now: a lost transaction is no lost race', async () => {
      const charge = operation()
      await intrude(charge, { state: '4', expires_at: PAST })
      const work: Work = async (grant) => {
        await ends(charge, 'commit')(grant)
        await intrude(charge, { state: '5', fence: '1', expires_at: PAST })
      }
      await expect(run(charge, work, { rerunnable: true }, store)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
      expect(await place.count(charge.key)).toBe(1)
    })
    it('answers from the record where there is one by now', async () => {
      const charge = operation()
      const work: Work = async (grant) => {
        await ends(charge, 'commit')(grant)
        await intrude(charge, { state: '5', expires_at: LIVE })
      }
      expect((await run(charge, work, {}, store)).kind).toBe('not-kept')
    })
    it('what is kept without its writes, and what is held, are found out as well', async () => {
      for (const judge of ['keep-undone', 'hold', 'spend'] as const) {
        const charge = operation()
        const policy: Policy<unknown> = { judge: () => judge }
        await expect(run(charge, ends(charge, 'commit'), policy, store)).rejects.toMatchObject({
          code: 'OUTCOME_UNKNOWN',
        })
        expect((await run(charge, never, {}, store)).kind).toBe('unknown')
      }
    })
  })

  describe('T13: a store that does not answer', () => {
    it('is unavailable within a second, and the work does not run', async () => {
      proxy.silence()
      const begun = performance.now()
      await expect(run(operation(), never, {}, store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(performance.now() - begun).toBeLessThan(5_000)
    })
    it('that is down is unavailable, and comes back', async () => {
      proxy.down()
      const error = await run(operation(), never, {}, store).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', cause: expect.anything() })
      await proxy.up()
      expect((await run(operation(), undefined, {}, store)).kind).toBe('ran')
    })
    it('a claim that arrives after its caller was answered rolls back at once', async () => {
      const charge = operation()
      const impatient = postgres(fromPg(place.open(proxy.url)), { schema: place.schema, claimMs: 300 })
      await run(operation(), async () => 'warm', {}, impatient)
      proxy.next('begin', { kind: 'delay', answerMs: 900 })
      await expect(run(charge, never, {}, impatient)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      await expect.poll(async () => (await run(charge)).kind, { timeout: 5_000 }).toBe('ran')
    })
    it('O-15: a copy that lags decides nothing: a database that takes no writes is unavailable', async () => {
      const readonly = lagging(fromPg(place.pool))
      const copy = postgres(readonly, { schema: place.schema })
      await expect(run(operation(), never, {}, copy)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    })
    it('O-15: plain reads that go to a lagging copy never answer absent', async () => {
      const charge = operation()
      const behind = postgres(staleReads(fromPg(place.pool)), { schema: place.schema, read: 'first' })
      expect((await run(charge, undefined, {}, behind)).kind).toBe('ran')
      expect((await run(charge, never, {}, behind)).kind).toBe('replayed')
      expect(await place.count(charge.key)).toBe(1)
    })
  })
})

/** A session that cannot write, as on a standby. */
function lagging<Tx>(database: Database<Tx>): Database<Tx> {
  const readOnly = { text: 'set transaction read only', params: [] }
  return {
    ...database,
    async transaction(opening, body) {
      return database.transaction([readOnly, ...opening], (tx, [, ...opened], gone) => body(tx, opened, gone))
    },
  }
}

/** Autocommit reads see no record at all. */
function staleReads<Tx>(database: Database<Tx>): Database<Tx> {
  return {
    ...database,
    query: async (statement) => (statement.text.includes('.record') ? [] : database.query(statement)),
  }
}
