/** T15: joining a transaction that the caller owns, on a real PostgreSQL. */
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, LIVE, never, operation, PAST, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { once } from '../../core/once.ts'
import type { Operation } from '../../core/operation.ts'
import type { Policy } from '../../core/policy.ts'
import { fromPg } from '../database/pg.ts'
import { STATE } from '../row.ts'
import { postgres, type TransactionalStore } from './index.ts'

describePostgres('within a transaction of the caller', () => {
  const place = transactionPlace()
  const { run, row, intrude } = chargesAt(place)
  let store: TransactionalStore<pg.PoolClient>
  let tx: pg.PoolClient

  beforeEach(async () => {
    store = postgres(fromPg(place.pool), { schema: place.schema })
    tx = await place.pool.connect()
    await tx.query('begin')
  })
  afterEach(async () => {
    await tx.query('rollback')
    tx.release()
  })
  const join = (charge: Operation, work: Work = write(charge.key), policy: Policy<unknown> = {}) =>
    once(store.within(tx), charge, work, { policy })
  const write =
    (mark: string): Work =>
    async (grant) => {
      await place.write(grant.tx, mark)
      return 'done'
    }
  const locksHeld = async () => {
    const { rows } = await tx.query(
      "select count(*)::int as n from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'",
    )
    return rows[0].n
  }

  it('the answer is durable when the caller commits, and not before', async () => {
    const charge = operation()
    expect(await join(charge)).toEqual({ kind: 'ran', value: 'done', fate: 'kept' })
    expect(await row(charge)).toBeUndefined()
    expect((await run(charge, never)).kind).toBe('busy')
    expect(await run({ ...charge, fingerprints: ['another'] }, never)).toEqual({ kind: 'mismatch' })
    await tx.query('commit')
    expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'done' })
    expect(await place.count(charge.key)).toBe(1)
  })

  it('nothing is left when the caller rolls back', async () => {
    const charge = operation()
    await join(charge)
    await tx.query('rollback')
    expect((await run(charge)).kind).toBe('ran')
    expect(await place.count(charge.key)).toBe(1)
  })

  it('O-16: a refused attempt leaves the transaction as it was (lobu-ai/lobu#2461)', async () => {
    const charge = operation()
    await run(charge)
    await place.write(tx, 'unrelated')
    expect(await join(charge, never)).toMatchObject({ kind: 'replayed', value: 'done' })
    expect(await join({ ...charge, fingerprints: ['another'] }, never)).toEqual({ kind: 'mismatch' })
    expect(await locksHeld()).toBe(0)
    await place.write(tx, 'unrelated')
    await tx.query('commit')
    expect(await place.count('unrelated')).toBe(2)
  })

  it('a duplicate of what runs elsewhere is busy, and one of another request a mismatch', async () => {
    const charge = operation()
    await run(charge, async () => {
      expect((await join(charge, never)).kind).toBe('busy')
      expect((await join({ ...charge, fingerprints: ['another'] }, never)).kind).toBe('mismatch')
    })
  })

  it('a lost race undoes the work, is answered from the record, and leaves the transaction usable', async () => {
    const charge = operation()
    await place.write(tx, `before ${charge.key}`)
    const outcome = await join(charge, async (grant) => {
      await place.write(grant.tx, charge.key)
      await intrude(charge, { state: '5', expires_at: LIVE })
    })
    expect(outcome.kind).toBe('not-kept')
    await tx.query('commit')
    expect(await place.count(charge.key)).toBe(0)
    expect(await place.count(`before ${charge.key}`)).toBe(1)
  })

  it('work that throws is undone alone, and the key is free', async () => {
    const charge = operation()
    const thrown = new Error('declined')
    const work: Work = async (grant) => {
      await place.write(grant.tx, charge.key)
      throw thrown
    }
    await place.write(tx, `before ${charge.key}`)
    await expect(join(charge, work)).rejects.toBe(thrown)
    expect(await locksHeld()).toBe(0)
    expect((await join(charge)).kind).toBe('ran')
    await tx.query('commit')
    expect(await place.count(charge.key)).toBe(1)
    expect(await place.count(`before ${charge.key}`)).toBe(1)
  })

  describe('T9, T10', () => {
    it.each(['keep-undone', 'hold'] as const)('%s undoes the writes of the work alone', async (judge) => {
      const charge = operation()
      await place.write(tx, `before ${charge.key}`)
      await join(charge, undefined, { judge: () => judge })
      await tx.query('commit')
      expect(await place.count(charge.key)).toBe(0)
      expect(await place.count(`before ${charge.key}`)).toBe(1)
      expect((await run(charge, never)).kind).toBe(judge === 'hold' ? 'unknown' : 'replayed')
    })
    it('work that returns on a failed transaction keeps its answer, without its writes', async () => {
      const charge = operation()
      const swallows: Work = async (grant) => {
        await place.write(grant.tx, charge.key)
        await grant.tx.query('select 1 / 0').catch(() => {})
        return 'answer'
      }
      expect(await join(charge, swallows)).toMatchObject({ kind: 'ran', fate: 'kept' })
      await tx.query('commit')
      expect(await place.count(charge.key)).toBe(0)
      expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'answer' })
    })
  })

  it('an abandoned claim is written unknown with the caller’s transaction', async () => {
    const charge = operation()
    await intrude(charge, { state: '2', fence: '7', lease_end: PAST })
    expect((await join(charge, never)).kind).toBe('unknown')
    await tx.query('commit')
    expect(await row(charge)).toMatchObject({ state: STATE.unknown, fence: '7' })
  })

  it('T12: work that takes too long spoils the transaction, so that nothing of it can be committed', async () => {
    const charge = operation()
    let release = () => {}
    const slow: Work = async (grant) => {
      await place.write(grant.tx, charge.key)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      await place.write(grant.tx, charge.key)
    }
    await expect(join(charge, slow, { work: 50 })).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    release()
    await expect.poll(async () => (await tx.query('commit')).command).toBe('ROLLBACK')
    expect(await place.count(charge.key)).toBe(0)
  })

  it.each(['repeatable read', 'serializable'])('%s is refused before the work', async (level) => {
    await tx.query(`rollback; begin isolation level ${level}`)
    await expect(join(operation(), never)).rejects.toMatchObject({ code: 'TX_ISOLATION' })
    expect((await tx.query('select 1 as n')).rows).toEqual([{ n: 1 }])
  })

  it('a connection without a transaction is refused before the work', async () => {
    await tx.query('commit')
    await expect(join(operation(), never)).rejects.toMatchObject({ code: 'TX_CLOSED' })
  })

  it('T3: work that ends the caller’s transaction is unknown', async () => {
    const charge = operation()
    const commits: Work = async (grant) => {
      await place.write(grant.tx, charge.key)
      await grant.tx.query('commit')
    }
    await expect(join(charge, commits)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect((await run(charge, never)).kind).toBe('unknown')
  })

  it('T17: the same operation twice on one transaction is refused while the first runs, and answered after it', async () => {
    const charge = operation()
    await join(charge, async () => {
      await expect(join(charge, never)).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
    })
    expect((await join(charge, never)).kind).toBe('replayed')
  })

  it('sets no limits on a transaction that is not its own', async () => {
    await join(operation())
    const { rows } = await tx.query("select current_setting('idle_in_transaction_session_timeout') as idle")
    expect(rows).toEqual([{ idle: '0' }])
  })
})
