import { describe, expect, it } from 'vitest'
import { dedupes, repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { randomHex } from '../../core/digest.ts'
import { readLabel } from '../../core/label.ts'
import { type AfterFailure, databaseOnly, downstreamDoesNot } from '../../core/policy.ts'
import type { SeenRecord } from '../../core/record.ts'
import type { Owned } from '../../core/store.ts'
import { STATE } from '../row.ts'
import { take } from './statements/lease/take.ts'

const DAY = 86_400_000
const receipt = Uint8Array.of(1, 0, 255)
const LEASE_OVER = `lease_end = clock_timestamp() - interval '1 ms'`

describePostgres('the lease port on PostgreSQL', () => {
  const port = freshLeasePort()
  const of = (after: AfterFailure) => ({ policy: { after, lease: '30s', retain: '48h' } }) as const

  /** A record in each state, by the driver's own steps. */
  async function left(
    state: 'running' | 'open' | 'finished' | 'spent' | 'unknown',
    after = databaseOnly,
  ): Promise<Owned> {
    const owned = wanted(of(after))
    const held = await port.won(owned)
    if (state === 'open') await port.driver.release(held, 'retry')
    if (state === 'unknown') await port.driver.hold(held, 'the work threw')
    if (state === 'finished') await port.driver.complete(held, { receipt })
    if (state === 'spent') await port.driver.complete(held, { spent: 'too-large', head: receipt })
    return owned
  }

  describe('§1: a claim', () => {
    it('makes a running record out of nothing: whose it is, for how long, and what people need to see', async () => {
      const owned = wanted(of(dedupes))
      const claimed = await port.driver.claim(owned)
      expect(claimed).toMatchObject({ kind: 'won', fresh: true, takenOver: false })
      const row = await port.row(owned.id)
      expect(row?.state).toBe(STATE.takeover)
      expect(row?.leaseEnds).toBeGreaterThan(20_000)
      expect(row?.leaseEnds).toBeLessThanOrEqual(30_000)
      expect(row?.ends).toBeGreaterThan(DAY - 10_000)
      expect(row?.ends).toBeLessThanOrEqual(DAY)
      expect(readLabel(row?.body)).toEqual(owned.label)
    })

    it('is busy while the lease runs, whatever the caller would do', async () => {
      const owned = await left('running')
      for (const after of [databaseOnly, downstreamDoesNot, dedupes])
        expect(await port.told(repeat(owned, { after, lease: '1ms' }))).toBe('busy')
    })

    it.each(['running', 'open', 'finished', 'spent', 'unknown'] as const)(
      'with another fingerprint changes nothing: %s',
      async (state) => {
        const owned = await left(state)
        if (state === 'running') await port.set(owned.id, LEASE_OVER)
        const before = await port.row(owned.id)
        const other = wanted({ key: owned.label.key, fingerprints: ['other'] })
        expect(await port.told(other)).toBe('mismatch')
        expect(await port.told({ ...other, token: owned.token })).toBe('mismatch')
        expect({ ...(await port.row(owned.id)), ends: 0, leaseEnds: 0 }).toEqual({ ...before, ends: 0, leaseEnds: 0 })
      },
    )

    it('takes over a running record past its lease whose record says so, with a greater fence and the first end of deduplication', async () => {
      const owned = await left('running', dedupes)
      const first = await port.won({ ...owned })
      await port.set(owned.id, `${LEASE_OVER}, expires_at = clock_timestamp() + interval '1 hour'`)
      const taker = repeat(owned, { after: dedupes })
      const claimed = await port.driver.claim(taker)
      expect(claimed).toMatchObject({ kind: 'won', takenOver: true, fresh: false })
      expect((claimed as { fence: bigint }).fence).toBeGreaterThan(first.fence)
      const row = await port.row(owned.id)
      expect(row).toMatchObject({ state: STATE.takeover, token: expect.stringContaining(taker.token.slice(0, 8)) })
      expect(row?.ends).toBeLessThanOrEqual(3_600_000)
    })

    it('runs an open record at once, which is no takeover', async () => {
      const owned = await left('open', dedupes)
      expect(await port.driver.claim(repeat(owned))).toMatchObject({ kind: 'won', takenOver: false, fresh: false })
      expect((await port.row(owned.id))?.ends).toBeGreaterThan(DAY - 10_000)
    })

    it('of a record that says hold finds the outcome unknown, and writes it down (S5: the taker would take over)', async () => {
      const owned = await left('running', downstreamDoesNot)
      const before = await port.row(owned.id)
      await port.set(owned.id, LEASE_OVER)
      expect(await port.told(repeat(owned, { after: dedupes }))).toBe('unknown')
      const row = await port.row(owned.id)
      expect(row).toMatchObject({ state: STATE.unknown, token: before?.token, fence: before?.fence, leaseEnds: null })
      expect(readLabel(row?.body)).toEqual({ ...owned.label, why: 'its owner vanished' })
    })

    it('of a record that says takeover takes it over (S5: the taker would hold)', async () => {
      const owned = await left('running', databaseOnly)
      await port.set(owned.id, LEASE_OVER)
      expect(await port.told(repeat(owned, { after: downstreamDoesNot }))).toBe('won')
      expect((await port.row(owned.id))?.state).toBe(STATE.hold)
    })

    it('past what the downstream remembers finds the outcome unknown: running and open', async () => {
      const running = await left('running', dedupes)
      await port.set(running.id, `${LEASE_OVER}, expires_at = clock_timestamp()`)
      expect(await port.told(repeat(running))).toBe('unknown')
      const open = await left('open', dedupes)
      await port.set(open.id, 'lease_end = clock_timestamp()')
      expect(await port.told(repeat(open))).toBe('unknown')
      const row = await port.row(open.id)
      expect(row).toMatchObject({ state: STATE.unknown, token: expect.any(String), fence: expect.any(String) })
      expect(row?.ends).toBeLessThanOrEqual(0)
    })

    it.each(['open', 'finished', 'spent'] as const)('of a record past its end starts over: %s', async (state) => {
      const owned = await left(state, dedupes)
      await port.set(owned.id, 'expires_at = clock_timestamp(), lease_end = clock_timestamp()')
      const other = wanted({ key: owned.label.key, fingerprints: ['other'], ...of(dedupes) })
      expect(await port.driver.claim(other)).toMatchObject({ kind: 'won', takenOver: false })
      const row = await port.row(owned.id)
      expect(row?.fingerprint.replaceAll('-', '')).toBe(other.prints[0])
      expect(row?.ends).toBeGreaterThan(DAY - 10_000)
    })

    it('never takes over what is running or unknown, however old its other times are', async () => {
      for (const state of ['running', 'unknown'] as const) {
        const owned = await left(state)
        await port.set(owned.id, `expires_at = '2000-01-01'`)
        expect(await port.told(repeat(owned))).toBe(state === 'running' ? 'busy' : 'unknown')
      }
    })

    it.each(['running', 'open', 'unknown'] as const)(
      'finds its own token and has won, with the same fence and a lease from now: %s (S2)',
      async (state) => {
        const owned = await left(state, dedupes)
        const before = await port.row(owned.id)
        if (state === 'running') await port.set(owned.id, LEASE_OVER)
        expect(await port.driver.claim(owned)).toMatchObject({ kind: 'won', fence: BigInt(before?.fence ?? 0) })
        const row = await port.row(owned.id)
        expect(row?.state).toBe(STATE.takeover)
        expect(row?.leaseEnds).toBeGreaterThan(20_000)
        expect(row?.ends).toBeGreaterThan(DAY - 10_000)
        expect(readLabel(row?.body)).toEqual(owned.label)
      },
    )

    it('takes nothing that changed since it was read: the row is judged again, under its lock', async () => {
      const statement = take(port.record)
      const taken = async (owned: Owned) => {
        const { text, params } = statement(owned)
        return (await port.pool.query(text, [...params])).rowCount
      }
      for (const state of ['running', 'finished', 'spent', 'unknown'] as const)
        expect(await taken(repeat(await left(state))), state).toBe(0)
      for (const state of ['running', 'open'] as const) {
        const owned = await left(state)
        if (state === 'running') await port.set(owned.id, LEASE_OVER)
        const other = wanted({ key: owned.label.key, fingerprints: ['other'] })
        expect(await taken(other), `${state}, another fingerprint`).toBe(0)
        expect(await taken({ ...other, token: owned.token }), `${state}, another fingerprint, own token`).toBe(0)
        expect(await taken(repeat(owned)), state).toBe(1)
      }
    })

    it('matches any fingerprint in rotation, and leaves the bound one as it is (I3)', async () => {
      const key = crypto.randomUUID()
      const old = wanted({ key, fingerprints: ['old'] })
      await port.won(old)
      expect(await port.told(wanted({ key, fingerprints: ['new', 'old', 'older'] }))).toBe('busy')
      await port.set(old.id, LEASE_OVER)
      expect(await port.told(wanted({ key, fingerprints: ['new', 'old'] }))).toBe('won')
      expect(await port.told(wanted({ key, fingerprints: ['new'] }))).toBe('mismatch')
      expect(await port.told(old)).toBe('busy')
    })

    it('gives greater fences than any before, also while the clock stands behind (S3)', async () => {
      const owned = await left('open')
      await port.set(owned.id, `fence = 9000000000000000000`)
      const held = await port.won(repeat(owned))
      expect(held.fence).toBe(9_000_000_000_000_000_001n)
    })

    it('of a row by transaction mode, which has neither token nor fence, goes by its state', async () => {
      const owned = await left('unknown')
      await port.set(owned.id, 'token = null, fence = null')
      expect(await port.told(repeat(owned))).toBe('unknown')
      await port.set(owned.id, `state = ${STATE.open}, expires_at = clock_timestamp() + interval '1 hour'`)
      expect(await port.told(repeat(owned))).toBe('won')
    })

    it('of a state that this build does not know runs nothing (S7)', async () => {
      const owned = await left('finished')
      await port.set(owned.id, 'state = 77, expires_at = null')
      expect(await port.told(repeat(owned))).toBe('finished')
    })
  })

  describe('§1: a later write of the owner', () => {
    const writes = ['renew', 'complete', 'hold', 'free', 'retry'] as const
    function send(write: (typeof writes)[number], held: Parameters<typeof port.driver.renew>[0]) {
      if (write === 'complete') return port.driver.complete(held, { receipt })
      if (write === 'hold') return port.driver.hold(held, 'asked')
      return write === 'renew' ? port.driver.renew(held) : port.driver.release(held, write)
    }
    const ends: Record<(typeof writes)[number], number | undefined> = {
      renew: STATE.takeover,
      complete: STATE.finished,
      hold: STATE.unknown,
      free: undefined,
      retry: STATE.open,
    }

    it.each(writes.flatMap((write) => (['running', 'open', 'unknown'] as const).map((state) => ({ write, state }))))(
      '$write is done where the record is mine and $state, also past its lease',
      async ({ write, state }) => {
        const owned = await left(state, dedupes)
        const fence = BigInt((await port.row(owned.id))?.fence ?? 0)
        if (state === 'running') await port.set(owned.id, LEASE_OVER)
        const answer = await send(write, { ...owned, fence })
        if (write === 'retry' && state === 'open') expect((answer as SeenRecord).token).toBe(owned.token)
        else expect(answer).toBe('done')
        expect((await port.row(owned.id))?.state).toBe(ends[write])
      },
    )

    it.each(writes)(
      '%s is refused with another token, another fence, or where nothing is left, and changes nothing',
      async (write) => {
        const owned = await left('running')
        const before = await port.row(owned.id)
        const fence = BigInt(before?.fence ?? 0)
        for (const other of [{ token: randomHex(16) }, { fence: fence - 1n }]) {
          const answer = await send(write, { ...owned, fence, ...other })
          expect(answer).toMatchObject({ kind: 'record', token: owned.token, record: { state: 'running' } })
        }
        expect({ ...(await port.row(owned.id)), leaseEnds: 0 }).toEqual({ ...before, leaseEnds: 0 })
        expect(await send(write, { ...wanted(), fence })).toEqual({ kind: 'absent' })
      },
    )

    it.each(writes)('%s never changes a finished record, not even its owner’s', async (write) => {
      const owned = wanted()
      const held = await port.won(owned)
      await port.driver.complete(held, { receipt })
      const answer = (await send(write, held)) as SeenRecord
      expect(answer).toMatchObject({ token: owned.token, record: { state: 'finished', receipt } })
    })

    it.each(writes)('%s is refused where the open record is past its end: it is absent', async (write) => {
      const owned = wanted()
      const held = await port.won(owned)
      await port.driver.release(held, 'retry')
      await port.set(owned.id, 'expires_at = clock_timestamp()')
      expect(await send(write, held)).toMatchObject({ kind: 'record', over: true })
    })

    it('complete keeps the bytes and the token, no fence, and counts the retention from the finish (S5)', async () => {
      const owned = wanted(of(dedupes))
      const held = await port.won(owned)
      await port.driver.complete(held, { receipt })
      const row = await port.row(owned.id)
      expect(row).toMatchObject({ state: STATE.finished, fence: null, leaseEnds: null, token: expect.any(String) })
      expect(new Uint8Array(row?.body ?? [])).toEqual(receipt)
      expect(row?.ends).toBeGreaterThan(2 * DAY - 10_000)
    })

    it('a spent record says why, and keeps its head', async () => {
      const owned = await left('spent')
      const seen = (await port.driver.read(owned.id)) as SeenRecord
      expect(seen.record).toMatchObject({ state: 'finished', why: 'too-large', head: receipt, key: owned.label.key })
      expect(seen.record).not.toHaveProperty('receipt')
    })

    it('an open record is kept for the retention from its release, and never for less than the downstream remembers', async () => {
      const short = wanted({ policy: { after: dedupes, retain: '1h' } })
      await port.driver.release(await port.won(short), 'retry')
      const row = await port.row(short.id)
      expect(row?.ends).toBeCloseTo(row?.leaseEnds ?? 0, 0)
      expect(row?.ends).toBeGreaterThan(DAY - 10_000)
      const long = await left('open', dedupes)
      expect((await port.row(long.id))?.ends).toBeGreaterThan(2 * DAY - 10_000)
    })

    it('the time for which the downstream deduplicates survives every way round', async () => {
      const owned = wanted(of(dedupes))
      const held = await port.won(owned)
      await port.set(owned.id, `expires_at = clock_timestamp() + interval '1 hour'`)
      await port.driver.release(held, 'retry')
      await port.driver.hold(held, 'asked')
      await port.driver.renew(held)
      await port.driver.release(held, 'retry')
      const taken = await port.won(repeat(owned))
      await port.driver.hold(taken, 'asked')
      expect((await port.row(owned.id))?.ends).toBeLessThanOrEqual(3_600_000)
    })

    it('free leaves nothing, or, while the clock is not past the fence, a record that reads as absent (S3)', async () => {
      const gone = wanted()
      await port.driver.release(await port.won(gone), 'free')
      expect(await port.row(gone.id)).toBeUndefined()

      const stays = wanted()
      await port.won(stays)
      await port.set(stays.id, 'fence = 9000000000000000000')
      expect(await port.driver.release({ ...stays, fence: 9_000_000_000_000_000_000n }, 'free')).toBe('done')
      expect((await port.driver.read(stays.id)) as SeenRecord).toMatchObject({ over: true })
      const next = await port.won(wanted({ key: stays.label.key, fingerprints: ['other'] }))
      expect(next.fence).toBe(9_000_000_000_000_000_001n)
    })

    it('hold says why', async () => {
      const owned = await left('unknown')
      expect(((await port.driver.read(owned.id)) as SeenRecord).record).toMatchObject({
        state: 'unknown',
        why: 'the work threw',
      })
    })
  })
})

describePostgres('the lease port in a session that defaults to serializable', () => {
  const port = freshLeasePort({ connections: 20, session: '-c default_transaction_isolation=serializable' })

  it('has one winner, and every loser is answered (40001 is a lost race, not a fault)', async () => {
    for (let round = 0; round < 10; round += 1) {
      const owned = wanted()
      const told = await Promise.all(Array.from({ length: 20 }, () => port.told(repeat(owned))))
      expect(told.filter((word) => word === 'won')).toHaveLength(1)
      expect(told.filter((word) => word === 'busy')).toHaveLength(19)
    }
  })
})

describePostgres('the lease port in a session that may only read', () => {
  const port = freshLeasePort()

  it('decides nothing: claims fail, also where they would only read (T14)', async () => {
    const owned = wanted()
    await port.won(owned)
    const client = await port.pool.connect()
    try {
      await client.query('set default_transaction_read_only = on')
      const { claim } = await import('./statements/lease/claim.ts')
      const statement = claim(port.record)(repeat(owned))
      await expect(client.query(statement.text, [...statement.params])).rejects.toMatchObject({ code: '25006' })
    } finally {
      client.release(true)
    }
  })
})
