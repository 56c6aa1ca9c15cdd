import { describe, expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, never, operation, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { downstreamDedupes, type Policy } from '../../core/policy.ts'
import { STATE } from '../row.ts'

describePostgres('the end of an attempt in transaction mode', () => {
  const place = transactionPlace()
  const { run, write, row, intrude, eventsOf, terminate } = chargesAt(place)

  describe('T9: undoing writes while keeping the answer', () => {
    it('keeps a refusal, and undoes what led to it', async () => {
      const charge = operation()
      const policy: Policy<unknown> = { judge: () => 'keep-undone' }
      const events = await eventsOf(charge, async () => {
        expect(await run(charge, write(charge.key, 'declined'), policy)).toMatchObject({ kind: 'ran', fate: 'kept' })
      })
      expect(events).toEqual(['claimed', 'keeping', 'kept-undone'])
      expect(await place.count(charge.key)).toBe(0)
      expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'declined' })
    })
    it('holds with an unknown record, and the writes are undone', async () => {
      const charge = operation({ name: 'charge' })
      const policy: Policy<unknown> = { judge: () => 'hold', after: downstreamDedupes({ for: '24h' }) }
      expect((await run(charge, write(charge.key), policy)).kind).toBe('unknown')
      expect(await place.count(charge.key)).toBe(0)
      expect(await row(charge)).toMatchObject({ state: STATE.unknown, fence: null, token: null })
      expect(await run(charge, never)).toMatchObject({ kind: 'unknown', record: { name: 'charge', key: charge.key } })
    })
    it('a hold over an open record keeps what the downstream remembers from the first claim', async () => {
      const charge = operation()
      await intrude(charge, {
        state: '3',
        lease_end: "timestamptz '2100-01-01Z'",
        expires_at: "timestamptz '2101-01-01Z'",
      })
      const policy: Policy<unknown> = { judge: () => 'hold', after: downstreamDedupes({ for: '1h' }) }
      expect((await run(charge, write(charge.key), policy)).kind).toBe('unknown')
      expect((await row(charge)).expires_at).toEqual(new Date('2100-01-01Z'))
    })
    it('holds although the connection is lost before the last flight', async () => {
      const charge = operation()
      const outcome = run(
        charge,
        async (grant) => {
          await place.write(grant.tx, charge.key)
          await terminate(grant)
        },
        { judge: () => 'hold' },
      )
      expect((await outcome).kind).toBe('unknown')
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge, never)).kind).toBe('unknown')
    })
    it('an answer that is not kept leaves its head and why', async () => {
      const charge = operation()
      expect(await run(charge, write(charge.key, 'x'.repeat(500)), { maxBytes: 10 })).toMatchObject({ fate: 'spent' })
      expect(await run(charge, never)).toMatchObject({ kind: 'not-kept', record: { why: 'too-large' } })
      expect(await place.count(charge.key)).toBe(1)
    })
  })

  describe('T10: whose failure it is', () => {
    it('O-53: a deferred constraint that fails at COMMIT is thrown as it is, and the key is free', async () => {
      await place.pool.query(`create table ${place.schema}.parent (id int primary key);
        create table ${place.schema}.child (id int references ${place.schema}.parent deferrable initially deferred)`)
      const charge = operation()
      const orphan: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        await tx.query(`insert into ${place.schema}.child values (1)`)
      }
      const events = await eventsOf(charge, () =>
        expect(run(charge, orphan)).rejects.toMatchObject({ code: '23503', table: 'child' }),
      )
      expect(events).toEqual(['claimed', 'keeping', 'freed'])
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge)).kind).toBe('ran')
    })
    it('a deferred trigger that raises is the user’s own too', async () => {
      await place.pool.query(`create table ${place.schema}.guarded (id int);
        create function ${place.schema}.refuse() returns trigger language plpgsql as $$ begin perform 1 / 0; return null; end $$;
        create constraint trigger refuse after insert on ${place.schema}.guarded deferrable initially deferred
          for each row execute function ${place.schema}.refuse()`)
      const charge = operation()
      const raises: Work = async ({ tx }) => void (await tx.query(`insert into ${place.schema}.guarded values (1)`))
      await expect(run(charge, raises)).rejects.toMatchObject({ code: '22012' })
      expect((await run(charge)).kind).toBe('ran')
    })
    it('work that throws leaves neither a write nor a record, and its own error is thrown', async () => {
      const charge = operation()
      const thrown = new Error('declined')
      const work: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        throw thrown
      }
      await expect(run(charge, work)).rejects.toBe(thrown)
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge)).kind).toBe('ran')
    })
    it('work that returns on a failed transaction keeps its answer, without its writes', async () => {
      const charge = operation()
      const swallows: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        await tx.query('select 1 / 0').catch(() => {})
        return 'answer'
      }
      const events = await eventsOf(charge, async () => {
        expect(await run(charge, swallows)).toMatchObject({ kind: 'ran', fate: 'kept' })
      })
      expect(events).toEqual(['claimed', 'keeping', 'kept-undone'])
      expect(await place.count(charge.key)).toBe(0)
      expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'answer' })
    })
  })
})
