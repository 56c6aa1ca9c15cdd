/** Transaction mode over a library that owns BEGIN and COMMIT (T5, T9, T11): more flights, and the same rules. */
import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { callbackOverPg } from '../../../../../test/support/callback-over-pg.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, LIVE, never, operation, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { type FaultProxy, faultProxy } from '../../testing/proxy.ts'
import { postgres, type TransactionalStore } from '../postgres/index.ts'

describePostgres('transaction mode over callbacks', () => {
  const place = transactionPlace()
  const { run, intrude, write } = chargesAt(place)
  let proxy: FaultProxy
  let store: TransactionalStore<pg.PoolClient>

  beforeEach(async () => {
    proxy = await faultProxy({ to: place.url, latencyMs: 2 })
    store = postgres(callbackOverPg(place.open(proxy.url, { max: 4 }), { commitMs: 500 }), { schema: place.schema })
    await run(operation(), undefined, {}, store)
  })
  afterEach(() => proxy[Symbol.asyncDispose]())

  it('a replay takes one flight, because it looks first; a new key six, after that look', async () => {
    const charge = operation()
    const before = proxy.flights.answered
    await run(charge, undefined, {}, store)
    const between = proxy.flights.answered
    await run(charge, never, {}, store)
    expect([between - before, proxy.flights.answered - between]).toEqual([7, 1])
    const locked = postgres(callbackOverPg(place.open(proxy.url, { max: 1 })), { schema: place.schema, read: 'locked' })
    await run(operation(), undefined, {}, locked)
    const again = proxy.flights.answered
    await run(operation(), undefined, {}, locked)
    expect(proxy.flights.answered - again).toBe(6)
  })

  it('T9: discardable writes are undone behind a savepoint, the lock kept throughout', async () => {
    const charge = operation()
    const policy = { discardable: true, judge: () => 'keep-undone' as const }
    expect(await run(charge, undefined, policy, store)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await place.count(charge.key)).toBe(0)
    expect((await run(charge, never, {}, store)).kind).toBe('replayed')
  })

  it.each(['keep-undone', 'hold'] as const)(
    'T9: without a savepoint, %s is a rollback and a transaction of ours',
    async (judge) => {
      const charge = operation()
      await run(charge, undefined, { judge: () => judge }, store)
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge, never, {}, store)).kind).toBe(judge === 'hold' ? 'unknown' : 'replayed')
    },
  )

  it('T10: work that returns on a failed transaction is a usage error without a savepoint, and the key is free', async () => {
    const charge = operation()
    const swallows: Work = async ({ tx }) => {
      await place.write(tx, charge.key)
      await tx.query('select 1 / 0').catch(() => {})
    }
    await expect(run(charge, swallows, {}, store)).rejects.toMatchObject({ code: 'TX_ABORTED' })
    expect(await run(charge, swallows, { discardable: true }, store)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await place.count(charge.key)).toBe(0)
  })

  it('T14: a role that may not write the record is met once, and given back from then on', async () => {
    await place.pool.query(`create role ${place.schema}_lowly`)
    try {
      const work: Work = async ({ tx }) => void (await tx.query(`set local role ${place.schema}_lowly`))
      const charge = operation()
      await expect(run(charge, work, {}, store)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
      expect(await run(charge, work, {}, store)).toMatchObject({ kind: 'ran', fate: 'kept' })
    } finally {
      await place.pool.query(`drop role ${place.schema}_lowly`)
    }
  })

  it('T11: COMMIT whose answer is lost, or late, is answered from the record', async () => {
    for (const fault of [
      { kind: 'cut', at: 'answer' },
      { kind: 'silence', at: 'answer' },
    ] as const) {
      const charge = operation()
      proxy.next(/commit\0$/, fault)
      expect((await run(charge, write(charge.key), {}, store)).kind).toBe('replayed')
      expect(await place.count(charge.key)).toBe(1)
    }
  })

  it('T11: COMMIT that never arrived leaves the key free', async () => {
    const charge = operation()
    proxy.next(/commit\0$/, { kind: 'cut', at: 'request' })
    await expect(run(charge, write(charge.key), {}, store)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    expect((await run(charge, undefined, {}, store)).kind).toBe('ran')
    expect(await place.count(charge.key)).toBe(1)
  })

  it('T8: a lost race is answered from the record', async () => {
    const charge = operation()
    const work: Work = async ({ tx }) => {
      await place.write(tx, charge.key)
      await intrude(charge, { state: '5', expires_at: LIVE })
    }
    expect((await run(charge, work, {}, store)).kind).toBe('not-kept')
    expect(await place.count(charge.key)).toBe(0)
  })

  it('a library that runs its callback again does not run the work again', async () => {
    const library = callbackOverPg(place.pool)
    const retrying = callbackOverPg(place.pool, {
      async begin(callback) {
        await library.transaction([], async (tx) => {
          await callback(tx)
          return { rollback: true, value: undefined }
        })
        return library.transaction([], async (tx) => ({ commit: [], value: await callback(tx) }))
      },
    })
    let runs = 0
    const charge = operation()
    const counted: Work = async () => {
      runs += 1
    }
    await expect(run(charge, counted, {}, postgres(retrying, { schema: place.schema }))).rejects.toThrow()
    expect(runs).toBe(1)
  })

  it('a pool whose size cannot be seen has to be told how many may win', () => {
    const { connections: _, ...unseen } = callbackOverPg(place.pool)
    expect(() => postgres(unseen)).toThrow(/INVALID_OPTION.*maxWinners/)
    expect(() => postgres(unseen, { maxWinners: 4 })).not.toThrow()
  })
})
