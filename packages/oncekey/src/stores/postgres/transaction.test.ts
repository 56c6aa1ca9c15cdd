/** Who runs and who is answered in transaction mode (T1, T2, T8), on a real PostgreSQL. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, LIVE, never, operation, PAST, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { STATE } from '../row.ts'

describePostgres('transaction mode on PostgreSQL', () => {
  const place = transactionPlace()
  const { run, row, intrude, eventsOf } = chargesAt(place)

  it('keeps the answer next to the write, and gives it to every repeat', async () => {
    const charge = operation()
    const events = await eventsOf(charge, async () => {
      expect(await run(charge)).toEqual({ kind: 'ran', value: 'done', fate: 'kept' })
    })
    expect(events).toEqual(['claimed', 'keeping', 'kept'])
    expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'done' })
    expect(await run({ ...charge, fingerprints: ['another'] }, never)).toEqual({ kind: 'mismatch' })
    expect(await place.count(charge.key)).toBe(1)
    expect(await row(charge)).toMatchObject({ state: STATE.finished, token: null, fence: null, lease_end: null })
  })

  describe('T1: under the lock the row is judged', () => {
    it('a live finished record wins, whoever holds the key', async () => {
      const charge = operation()
      const outer = await run(charge, async () => {
        await intrude(charge, { state: '5', expires_at: LIVE })
        expect((await run(charge, never)).kind).toBe('not-kept')
        expect((await run({ ...charge, fingerprints: ['another'] }, never)).kind).toBe('mismatch')
      })
      expect(outer.kind).toBe('not-kept')
    })
    it('running inside its lease is busy', async () => {
      const charge = operation()
      await intrude(charge, { state: '1', fence: '1', token: `'${randomUUID()}'`, lease_end: LIVE })
      expect((await run(charge, never)).kind).toBe('busy')
    })
    it.each([
      ['running past its lease with takeover', { state: '1', lease_end: PAST, expires_at: LIVE }],
      ['open', { state: '3', lease_end: LIVE, expires_at: LIVE }],
      ['finished past its end', { state: '4', expires_at: PAST }],
      ['open past its end', { state: '3', expires_at: PAST }],
    ])('%s runs, and its row becomes the record', async (_, columns) => {
      const charge = operation()
      await intrude(charge, { fence: '7', token: `'${randomUUID()}'`, ...columns })
      expect((await run(charge)).kind).toBe('ran')
      expect((await run(charge, never)).kind).toBe('replayed')
      expect(await place.count(charge.key)).toBe(1)
      expect(await row(charge)).toMatchObject({ state: STATE.finished, fence: null, token: null, lease_end: null })
    })
    it.each([
      ['running past its lease with hold', { state: '2', lease_end: PAST, expires_at: LIVE }],
      ['running past what the downstream remembers', { state: '1', lease_end: PAST, expires_at: PAST }],
      ['open past what the downstream remembers', { state: '3', lease_end: PAST, expires_at: LIVE }],
    ])('%s is written unknown, and its owner may still complete', async (_, columns) => {
      const charge = operation({ name: 'charge' })
      await intrude(charge, { fence: '7', token: `'${randomUUID()}'`, ...columns })
      expect(await run(charge, never)).toMatchObject({ kind: 'unknown', record: { state: 'unknown' } })
      expect(await row(charge)).toMatchObject({ state: STATE.unknown, fence: '7', lease_end: null })
      expect((await row(charge)).token).not.toBeNull()
      expect(await run(charge, never)).toMatchObject({ kind: 'unknown', record: { why: 'the owner is gone' } })
    })
  })

  describe('T2: only the record that was judged is replaced', () => {
    it.each([
      ['came alive', { state: '4', body: `'\\x01'`, expires_at: LIVE }],
      ['was claimed by lease mode', { state: '1', lease_end: LIVE, fence: '9', token: `'${randomUUID()}'` }],
    ])('a record that %s meanwhile stays, and the work is undone', async (_, columns) => {
      const charge = operation()
      await intrude(charge, { state: '4', body: `'\\x01'`, expires_at: PAST })
      const outcome = await run(charge, async ({ tx }) => {
        await place.write(tx, charge.key)
        await intrude(charge, { fence: 'null', token: 'null', lease_end: 'null', ...columns })
      })
      expect(['not-kept', 'busy']).toContain(outcome.kind)
      expect(await place.count(charge.key)).toBe(0)
      expect(String((await row(charge)).state)).toBe(columns.state)
    })
    it('a lease that was renewed meanwhile is not overwritten', async () => {
      const charge = operation()
      const token = `'${randomUUID()}'`
      await intrude(charge, { state: '1', lease_end: PAST, fence: '9', token })
      const outcome = await run(charge, async ({ tx }) => {
        await place.write(tx, charge.key)
        await intrude(charge, { state: '1', lease_end: LIVE, fence: '9', token })
      })
      expect(outcome.kind).toBe('busy')
      expect(await place.count(charge.key)).toBe(0)
    })
  })

  describe('T8: a lost race', () => {
    it('is answered from the record, and what ran here is undone', async () => {
      const charge = operation()
      const work: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        await intrude(charge, { state: '5', expires_at: LIVE })
      }
      expect((await run(charge, work)).kind).toBe('not-kept')
      expect(await place.count(charge.key)).toBe(0)
    })
    it('without a record at the second look it may be tried again', async () => {
      const charge = operation()
      const work: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        await intrude(charge, { state: '4', body: `'\\x01'`, expires_at: PAST })
      }
      await expect(run(charge, work)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge)).kind).toBe('ran')
    })
    it('is run again where the policy says so, three times at most', async () => {
      const charge = operation()
      let runs = 0
      const work: Work = async ({ tx }) => {
        runs += 1
        await place.write(tx, charge.key)
        const state = runs % 2 === 0 ? '5' : '4'
        await intrude(charge, { state, fence: String(runs), body: `'\\x01'`, expires_at: PAST })
      }
      await expect(run(charge, work, { rerunnable: true })).rejects.toMatchObject({ code: 'TRY_AGAIN' })
      expect(runs).toBe(4)
      expect(await place.count(charge.key)).toBe(0)
    })
    it('a run again that wins is the one that counts', async () => {
      const charge = operation()
      let runs = 0
      const work: Work = async ({ tx }) => {
        runs += 1
        await place.write(tx, charge.key)
        if (runs === 1) await intrude(charge, { state: '4', body: `'\\x01'`, expires_at: PAST })
        return runs
      }
      expect(await run(charge, work, { rerunnable: true })).toMatchObject({ kind: 'ran', value: 2 })
      expect(await place.count(charge.key)).toBe(1)
    })
    it("another table's unique violation is the work's own failure", async () => {
      await place.pool.query(
        `create table if not exists ${place.schema}.record_of_theirs (k text constraint record_pkey_of_theirs primary key)`,
      )
      const charge = operation()
      const work: Work = async ({ tx }) => {
        for (const _ of [1, 2]) await tx.query(`insert into ${place.schema}.record_of_theirs values ($1)`, [charge.key])
      }
      await expect(run(charge, work)).rejects.toMatchObject({ code: '23505' })
      expect(await row(charge)).toBeUndefined()
    })
  })
})
