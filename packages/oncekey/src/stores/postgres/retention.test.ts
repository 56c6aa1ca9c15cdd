/** S5: how long the rows of both modes are bound, and that nobody writes over a key while a tombstone holds it. */
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, LIVE, never, operation, PAST } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { type Outcome, once } from '../../core/once.ts'
import type { Operation } from '../../core/operation.ts'
import { databaseOnly, type Policy } from '../../core/policy.ts'
import { valueCodec } from '../../core/receipt.ts'
import type { Store } from '../../core/store.ts'
import { fromPg } from '../database/pg.ts'
import { STATE } from '../row.ts'
import { postgres } from './index.ts'

const HOUR = 3_600_000
const label = (fields: object) => `convert_to('${JSON.stringify(fields)}', 'utf8')`

describePostgres('retention on PostgreSQL', () => {
  const place = transactionPlace()
  const { run, row, intrude, write } = chargesAt(place)
  const database = () => fromPg(place.pool)
  const retained = { schema: place.schema, retain: '1h', tombstone: '30d' } as const
  const stores = {
    transaction: () => postgres(database(), retained) as unknown as Store,
    lease: () => postgres(database(), { mode: 'lease', ...databaseOnly, ...retained }) as unknown as Store,
  }
  const kept = (
    charge: Operation,
    mode: keyof typeof stores,
    policy: Policy<unknown> = {},
  ): Promise<Outcome<unknown>> => once(stores[mode](), charge, async () => 'done', { policy })

  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    it('the store’s tombstone stands in front of the receipt, and its end in the second column', async () => {
      const charge = operation()
      await kept(charge, mode)
      const { body, state, expires_at, lease_end } = (await row(charge)) as { body: Buffer } & Record<string, Date>
      expect(state).toBe(STATE.finished)
      expect(body.subarray(0, 1)).toEqual(Buffer.of(0))
      expect(JSON.parse(body.subarray(1, body.indexOf(0, 1)).toString())).toMatchObject({ why: 'expired' })
      expect(body.subarray(body.indexOf(0, 1) + 1)).toEqual(Buffer.from(await valueCodec().encode('done')))
      expect((Number(expires_at) - Date.now()) / HOUR).toBeCloseTo(1, 1)
      expect((Number(lease_end) - Number(expires_at)) / HOUR).toBeCloseTo(30 * 24, 3)
      expect(await once(stores[mode](), charge, never as never)).toMatchObject({ kind: 'replayed', value: 'done' })
    })

    it('a route may want none: then the body is the receipt, and there is no second end', async () => {
      const charge = operation()
      await kept(charge, mode, { tombstone: 0 })
      expect(await row(charge)).toMatchObject({ body: Buffer.from(await valueCodec().encode('done')), lease_end: null })
    })

    it('what was spent has no answer to outlive, and stays bound for as long', async () => {
      const charge = operation()
      await kept(charge, mode, { maxBytes: 1 })
      const { state, expires_at, lease_end } = (await row(charge)) as Record<string, Date>
      expect([state, lease_end]).toEqual([STATE.spent, null])
      expect((Number(expires_at) - Date.now()) / HOUR).toBeCloseTo(30 * 24 + 1, 1)
    })

    it('an answer that is over, with a tombstone that is not, answers that it is gone', async () => {
      const charge = operation()
      await kept(charge, mode)
      await place.pool.query(`update ${place.schema}.record set expires_at = ${PAST} where k = $1`, [
        (await row(charge)).k,
      ])
      expect(await once(stores[mode](), charge, never as never)).toMatchObject({
        kind: 'not-kept',
        record: { why: 'expired' },
      })
      const other = { ...charge, fingerprints: ['another'] as const }
      expect(await once(stores[mode](), other, never as never)).toMatchObject({ kind: 'mismatch' })
      await place.pool.query(`update ${place.schema}.record set lease_end = ${PAST} where k = $1`, [
        (await row(charge)).k,
      ])
      expect(await once(stores[mode](), other, async () => 'again')).toMatchObject({ kind: 'ran' })
    })
  })

  it('T2: a transaction that judged a record over does not write over the tombstone that holds it after all', async () => {
    const charge = operation()
    const body = label({ why: 'expired' })
    await intrude(charge, { state: '4', body, expires_at: PAST, lease_end: PAST })
    const outcome = await run(charge, async (grant) => {
      await intrude(charge, { state: '4', body, expires_at: PAST, lease_end: LIVE })
      return write(charge.key)(grant)
    })
    expect(outcome).toMatchObject({ kind: 'not-kept', record: { why: 'expired' } })
    expect(await place.count(charge.key)).toBe(0)
  })

  it('a settled answer has the tombstone of the store that settled it', async () => {
    const charge = operation()
    const store = postgres(database(), retained)
    await intrude(charge, { state: '6', body: label({ why: 'asked' }) })
    const seen = await store.admin.find(charge)
    const receipt = await valueCodec().encode('settled')
    const by = { who: 'an operator', why: 'the bank said so' }
    expect(await store.admin.settle(seen as never, { kind: 'finished', receipt }, by)).toBe('done')
    const { expires_at, lease_end } = (await row(charge)) as Record<string, Date>
    expect((Number(lease_end) - Number(expires_at)) / HOUR).toBeCloseTo(30 * 24, 3)
    expect(await once(store, charge, never as (grant: { tx: pg.PoolClient }) => Promise<unknown>)).toMatchObject({
      kind: 'replayed',
      value: 'settled',
    })
  })
})
