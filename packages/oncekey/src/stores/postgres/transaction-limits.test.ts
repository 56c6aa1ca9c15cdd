import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, never, operation, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { once } from '../../core/once.ts'
import { downstreamDedupes, downstreamDoesNot } from '../../core/policy.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

describePostgres('the limits of an attempt in transaction mode', () => {
  const place = transactionPlace()
  const { run, terminate } = chargesAt(place)

  describe('T12: nobody holds a key for ever', () => {
    it('work that takes too long is rolled back, its signal aborts, and its late writes reach nobody', async () => {
      const charge = operation()
      let late: unknown
      const slow: Work = async ({ tx, signal }) => {
        await place.write(tx, charge.key)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await sleep(20)
        late = await place.write(tx, charge.key).catch((error: unknown) => error)
      }
      await expect(run(charge, slow, { work: 100 })).rejects.toMatchObject({ code: 'TRY_AGAIN' })
      await expect.poll(() => late).toMatchObject({ code: 'TX_CLOSED' })
      await expect.poll(async () => (await run(charge)).kind).toBe('ran')
      expect(await place.count(charge.key)).toBe(1)
    })
    it('the signal aborts when the connection dies, and nothing is kept', async () => {
      const charge = operation()
      const work: Work = async (grant) => {
        await place.write(grant.tx, charge.key)
        await terminate(grant)
        expect(grant.signal.aborted).toBe(true)
      }
      await expect(run(charge, work)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge)).kind).toBe('ran')
    })
    it('the server ends a transaction whose client falls silent, and no setting outlives it', async () => {
      const charge = operation()
      await run(
        charge,
        async ({ tx }) => {
          const { rows } = await tx.query(
            "select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('client_connection_check_interval') as checks",
          )
          expect(rows[0]).toEqual({ idle: '7s', checks: '1s' })
        },
        { work: '2s' },
      )
      const { rows } = await place.pool.query("select current_setting('idle_in_transaction_session_timeout') as idle")
      expect(rows[0].idle).toBe('0')
    })
    it('a key for a foreign call is refused, where the downstream does not deduplicate', async () => {
      const call: Work = async (grant) => grant.childKey('charge')
      await expect(run(operation(), call)).rejects.toMatchObject({ code: 'CHILD_KEY_UNSAFE', fix: /mode: 'lease'/ })
      await expect(run(operation(), call, { after: downstreamDoesNot })).rejects.toMatchObject({
        code: 'CHILD_KEY_UNSAFE',
      })
      const after = downstreamDedupes({ for: '24h' })
      expect(await run(operation(), call, { after })).toMatchObject({ kind: 'ran', value: /^[0-9a-f]{32}$/ })
    })
  })

  describe('T14: what the work does to its session', () => {
    const lowly = () => `${place.schema}_lowly`
    beforeAll(() => place.pool.query(`create role ${lowly()}`))
    afterAll(() => place.pool.query(`drop role ${lowly()}`))

    it.each([
      ['lowers its rights', (role: string) => `set local role ${role}`],
      ['lowers its rights for the session', (role: string) => `set role ${role}`],
      ['has another search path', () => 'set local search_path = nowhere'],
      ['asks for no durability', () => 'set local synchronous_commit = off'],
    ])('work that %s has its answer kept', async (_, statement) => {
      const pool = place.open()
      const charge = operation()
      const work: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        await tx.query(statement(lowly()))
        return 'kept'
      }
      expect(await run(charge, work, {}, postgres(fromPg(pool), { schema: place.schema }))).toMatchObject({
        kind: 'ran',
        fate: 'kept',
      })
      expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'kept' })
    })
    it('synchronous_commit=off is overridden in the transaction that keeps the answer', async () => {
      await place.pool.query(`create table ${place.schema}.seen (setting text);
        create function ${place.schema}.see() returns trigger language plpgsql as
          $$ begin insert into ${place.schema}.seen values (current_setting('synchronous_commit')); return null; end $$;
        create table ${place.schema}.watched (id int);
        create constraint trigger see after insert on ${place.schema}.watched deferrable initially deferred
          for each row execute function ${place.schema}.see()`)
      await run(operation(), async ({ tx }) => {
        await tx.query(`set local synchronous_commit = off; insert into ${place.schema}.watched values (1)`)
      })
      const { rows } = await place.pool.query(`select setting from ${place.schema}.seen`)
      expect(rows).toEqual([{ setting: 'on' }])
    })
  })

  it('T17: the same operation inside itself is refused, by context and by handle, whatever its fingerprint', async () => {
    const charge = operation()
    const store = postgres(fromPg(place.pool), { schema: place.schema })
    const inner = { ...charge, fingerprints: ['another'] as const }
    const work: Work = async ({ tx }) => {
      await expect(run(inner, never, {}, store)).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
      await expect(once(store.within(tx), inner, never)).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
      expect((await once(store.within(tx), operation({ key: `${charge.key}-child` }), async () => 1)).kind).toBe('ran')
    }
    expect((await run(charge, work, {}, store)).kind).toBe('ran')
    expect((await run(operation({ key: `${charge.key}-child` }), never)).kind).toBe('replayed')
  })

  it('a closed store lets work end, keeps its answer, and claims nothing more', async () => {
    const closing = postgres(fromPg(place.pool), { schema: place.schema, drain: '5s' })
    const charge = operation()
    let closed: Promise<unknown> | undefined
    const ran = run(
      charge,
      async ({ tx }) => {
        closed = Promise.resolve(closing[Symbol.asyncDispose]())
        await place.write(tx, charge.key)
        return 'kept'
      },
      {},
      closing,
    )
    expect(await ran).toMatchObject({ kind: 'ran', fate: 'kept' })
    await closed
    await expect(run(operation(), never, {}, closing)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it('a closing store gives work up at its deadline, and nothing of it is left', async () => {
    const closing = postgres(fromPg(place.pool), { schema: place.schema, drain: 50 })
    const charge = operation()
    const ran = run(
      charge,
      async ({ tx, signal }) => {
        await place.write(tx, charge.key)
        void closing[Symbol.asyncDispose]()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      {},
      closing,
    )
    await expect(ran).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    await closing[Symbol.asyncDispose]()
    await expect.poll(async () => (await run(charge)).kind).toBe('ran')
    expect(await place.count(charge.key)).toBe(1)
  })
})
