/** What people do to records by hand: compared with what they saw, and written down in the same statement. */
import { describe, expect, it } from 'vitest'
import { dedupes, repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import type { Policy } from '../../core/policy.ts'
import type { KeyRecord } from '../../core/record.ts'
import { STATE } from '../row.ts'

const receipt = Uint8Array.of(7)
const by = { who: 'an operator', why: 'the bank said so \u0000 \ud83d\ude42' }

describePostgres('the admin of PostgreSQL', () => {
  const port = freshLeasePort()
  const seen = async (id: string): Promise<KeyRecord> => {
    const record = await port.admin.find({ id })
    if (!record) throw new Error('not found')
    return record
  }
  async function unknown() {
    const held = await port.won(wanted({ policy: { after: dedupes } }))
    await port.driver.hold(held, 'asked')
    return held
  }
  async function audits(id: string) {
    const { rows } = await port.pool.query(
      `select action, state, fence, label, who, why from ${port.schema}.audit where k = $1 order by id`,
      [id],
    )
    return rows
  }

  it('settles as finished: repeats get the answer, and the owner that comes back is refused (O-54)', async () => {
    const held = await unknown()
    expect(await port.admin.settle(await seen(held.id), { kind: 'finished', receipt }, by)).toBe('done')
    expect(await port.row(held.id)).toMatchObject({ state: STATE.finished, token: null, fence: null, leaseEnds: null })
    expect(await port.driver.claim(repeat(held))).toMatchObject({ record: { receipt } })
    expect(await port.driver.complete(held, { receipt })).not.toBe('done')
    const [entry, ...more] = await audits(held.id)
    expect(more).toEqual([])
    expect(entry).toMatchObject({ action: 'finished', state: STATE.unknown, fence: String(held.fence) })
    expect([entry.who.toString(), entry.why.toString()]).toEqual([by.who, by.why])
    expect(JSON.parse(entry.label.toString())).toMatchObject({ key: held.label.key, why: 'asked' })
  })

  it('settles as retry: the next attempt runs, with a greater fence, bound to its fingerprint and the first end of deduplication', async () => {
    const held = await unknown()
    const until = (await port.row(held.id))?.ends ?? 0
    expect(await port.admin.settle(await seen(held.id), { kind: 'retry' }, by)).toBe('done')
    const row = await port.row(held.id)
    expect(row).toMatchObject({ state: STATE.open, token: null, fence: String(held.fence) })
    expect(Math.abs((row?.leaseEnds ?? 0) - until)).toBeLessThan(5_000)
    expect(await port.driver.complete(held, { receipt })).not.toBe('done')
    expect(await port.told(wanted({ key: held.label.key, fingerprints: ['other'] }))).toBe('mismatch')
    expect((await port.won(repeat(held))).fence).toBeGreaterThan(held.fence)
  })

  it('settles as free: the key is new, and no record is left, or one that reads as absent (S3)', async () => {
    const held = await unknown()
    expect(await port.admin.settle(await seen(held.id), { kind: 'free' }, by)).toBe('done')
    expect(await port.row(held.id)).toBeUndefined()
    const ahead = await unknown()
    await port.set(ahead.id, 'fence = 9000000000000000000')
    expect(await port.admin.settle(await seen(ahead.id), { kind: 'free' }, by)).toBe('done')
    expect(await port.admin.find({ id: ahead.id })).toBeUndefined()
    expect((await port.won(wanted({ key: ahead.label.key, fingerprints: ['other'] }))).fence).toBe(
      9_000_000_000_000_000_001n,
    )
  })

  it('settles what transaction mode left unknown, which has no fence', async () => {
    const held = await unknown()
    await port.set(held.id, 'token = null, fence = null')
    expect(await port.admin.settle(await seen(held.id), { kind: 'retry' }, by)).toBe('done')
  })

  it('changes nothing where the record is another one than was seen, and says what it is now', async () => {
    const held = await unknown()
    const before = await seen(held.id)
    await port.driver.renew(held)
    expect(await port.admin.settle(before, { kind: 'free' }, by)).toMatchObject({ state: 'running' })
    await port.driver.complete(held, { receipt })
    expect(await port.admin.settle(before, { kind: 'free' }, by)).toMatchObject({ state: 'finished', receipt })
    expect(await port.admin.settle({ ...before, fence: 1n }, { kind: 'free' }, by)).toMatchObject({ state: 'finished' })
    expect(await audits(held.id)).toEqual([])
  })

  it('of two who settle at once one does', async () => {
    for (let round = 0; round < 10; round += 1) {
      const held = await unknown()
      const before = await seen(held.id)
      const settled = await Promise.all([
        port.admin.settle(before, { kind: 'finished', receipt }, by),
        port.admin.settle(before, { kind: 'free' }, by),
        port.admin.settle(before, { kind: 'retry' }, by),
      ])
      expect(settled.filter((answer) => answer === 'done')).toHaveLength(1)
      expect(await audits(held.id)).toHaveLength(1)
    }
  })

  it('forgets what finished as it was seen; its end tells one record from the next', async () => {
    const held = await port.won(wanted())
    await port.driver.complete(held, { receipt })
    const before = await seen(held.id)
    await port.set(held.id, `expires_at = expires_at + interval '1 second'`)
    expect(await port.admin.forget(before, by)).toMatchObject({ state: 'finished' })
    expect(await port.admin.forget(await seen(held.id), by)).toBe('done')
    expect(await port.row(held.id)).toBeUndefined()
    // A receipt is the answer to its caller, and no part of an audit.
    expect(await audits(held.id)).toMatchObject([{ action: 'forget', state: STATE.finished, label: null }])
  })

  describe('erases a kept answer', () => {
    const secret = new TextEncoder().encode('her name')
    async function finished(policy: Policy<unknown> = {}) {
      const held = await port.won(wanted({ policy }))
      await port.driver.complete(held, { receipt: secret, head: secret })
      return held
    }

    it('from the row: nothing of it is left, its key stays bound until its last end, and the audit has none of it', async () => {
      const held = await finished({ retain: '1h', tombstone: '30d' })
      expect(await port.admin.erase(await seen(held.id), by)).toBe('done')
      const row = await port.row(held.id)
      expect(row).toMatchObject({ state: STATE.spent, leaseEnds: null, body: Buffer.from('{"why":"erased"}') })
      expect((row?.ends ?? 0) / 3_600_000).toBeCloseTo(30 * 24 + 1, 1)
      expect(await audits(held.id)).toMatchObject([{ action: 'erase', state: STATE.finished, label: null }])
      expect(await port.told(repeat(held))).toBe('finished')
      expect(await port.told(wanted({ key: held.label.key, fingerprints: ['other'] }))).toBe('mismatch')
      // Its owner, whose reply was lost, still finds that its operation ended.
      expect(await port.driver.complete(held, { receipt: secret })).toMatchObject({ token: held.token })
    })

    it('its end is that of the answer where there was no tombstone', async () => {
      const held = await finished({ retain: '1h' })
      await port.admin.erase(await seen(held.id), by)
      expect(((await port.row(held.id))?.ends ?? 0) / 3_600_000).toBeCloseTo(1, 1)
    })

    it('and what a spent one or a tombstone remembers of it', async () => {
      const spent = await port.won(wanted())
      await port.driver.complete(spent, { spent: 'too-large', head: secret })
      const expired = await finished({ retain: '1h', tombstone: '30d' })
      await port.set(expired.id, 'expires_at = clock_timestamp()')
      for (const held of [spent, expired]) {
        expect(await seen(held.id)).toMatchObject({ head: secret })
        expect(await port.admin.erase(await seen(held.id), by)).toBe('done')
        expect((await port.row(held.id))?.body.toString()).toBe('{"why":"erased"}')
      }
      expect(await audits(spent.id)).toMatchObject([{ action: 'erase', label: null }])
    })

    it('a tombstone that was swept meanwhile is still the one that was seen; an answer that has expired is another', async () => {
      const tombstone = await finished({ retain: '1h', tombstone: '30d' })
      const answer = await finished({ retain: '1h', tombstone: '30d' })
      const before = await seen(answer.id)
      for (const held of [tombstone, answer]) await port.set(held.id, 'expires_at = clock_timestamp()')
      const after = await seen(tombstone.id)
      await port.admin.sweep()
      expect(await port.admin.erase(after, by)).toBe('done')
      expect(await port.admin.erase(before, by)).toMatchObject({ state: 'finished', why: 'expired' })
    })

    it('once: the second is told what stands, and is no second entry', async () => {
      const held = await finished()
      const before = await seen(held.id)
      expect(await Promise.all([port.admin.erase(before, by), port.admin.erase(before, by)])).toContain('done')
      expect(await port.admin.erase(before, by)).toMatchObject({ state: 'finished', why: 'erased' })
      expect(await port.admin.erase(await seen(held.id), by)).toMatchObject({ why: 'erased' })
      expect(await audits(held.id)).toHaveLength(1)
    })

    it('but nothing that is not finished, nor what this build cannot read', async () => {
      const held = await unknown()
      expect(await port.admin.erase(await seen(held.id), by)).toMatchObject({ state: 'unknown' })
      await port.set(held.id, 'state = 77')
      expect(await port.admin.erase(await seen(held.id), by)).toMatchObject({ why: 'unknown-state' })
      expect(await audits(held.id)).toEqual([])
    })
  })

  it.each(['running', 'unknown'] as const)('forgets what is %s by force only', async (state) => {
    const held = state === 'running' ? await port.won(wanted()) : await unknown()
    const before = await seen(held.id)
    expect(await port.admin.forget(before, by)).toMatchObject({ state })
    expect(await port.admin.forget(before, { ...by, force: true })).toBe('done')
    expect(await port.row(held.id)).toBeUndefined()
  })

  it('can forget a record that this build cannot read (S7)', async () => {
    const held = await port.won(wanted())
    await port.set(held.id, 'state = 77')
    expect(await port.admin.forget(await seen(held.id), by)).toBe('done')
  })

  it('lists in the order of ids, in pages, by state, without what is past its end', async () => {
    await port.pool.query(`truncate ${port.record}`)
    const ids: string[] = []
    for (let at = 0; at < 7; at += 1) ids.push((await (at % 2 ? unknown() : port.won(wanted()))).id)
    const gone = await port.won(wanted())
    await port.driver.complete(gone, { receipt })
    await port.set(gone.id, 'expires_at = clock_timestamp()')
    const listed = async (filter: Parameters<typeof port.admin.list>[0]) => {
      const records: KeyRecord[] = []
      for await (const record of port.admin.list(filter)) records.push(record)
      return records
    }
    ids.sort()
    expect((await listed({})).map(({ id }) => id)).toEqual(ids)
    const first = await listed({ limit: 3 })
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    expect((await listed({ after: first[2]?.id as string })).map(({ id }) => id)).toEqual(ids.slice(3))
    const held = await listed({ state: 'unknown' })
    expect(held).toHaveLength(3)
    expect(held[0]).toMatchObject({ state: 'unknown', why: 'asked', name: 'charge', scope: ['tenant', 'á\u0000"'] })
    expect(await port.admin.stats()).toEqual({ running: 4, open: 0, finished: 0, unknown: 3 })
  })

  it('refuses what is no id', async () => {
    await expect(port.admin.find({ id: `x'; drop table record` })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
