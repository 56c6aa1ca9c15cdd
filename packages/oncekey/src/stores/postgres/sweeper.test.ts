/** Sweeping a table that is in use: bounded, complete, and felt by nobody. */
import { beforeEach, describe, expect, it } from 'vitest'
import { dedupes, repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { downstreamDoesNot } from '../../core/policy.ts'
import type { SeenRecord } from '../../core/record.ts'
import { STATE } from '../row.ts'

const ROWS = process.env.ONCEKEY_TEST_ALL === '1' ? 500_000 : 50_000

describePostgres('the sweeper on PostgreSQL', () => {
  const port = freshLeasePort({ connections: 12 })
  beforeEach(() => port.pool.query(`truncate ${port.record}`))

  async function fill(rows: number, columns: string): Promise<void> {
    await port.pool.query(`
      insert into ${port.record} (k, fingerprint, expires_at, lease_end, fence, token, state, body)
      select gen_random_uuid(), gen_random_uuid(), ${columns} from generate_series(1, ${rows}) as n`)
  }
  async function count(where = 'true'): Promise<number> {
    const { rows } = await port.pool.query(`select count(*)::int as n from ${port.record} where ${where}`)
    return rows[0].n
  }
  const FINISHED_OVER = `now() - interval '1 hour', null, null, gen_random_uuid(), 4::smallint, 'x'::bytea`

  it('removes what is past its end, and nothing else: running and unknown stay, however old (O-55)', async () => {
    await fill(30, FINISHED_OVER)
    await fill(10, `now() - interval '1 hour', null, 1, gen_random_uuid(), 3::smallint, '{}'::bytea`)
    await fill(20, `now() + interval '1 hour', null, null, null, 4::smallint, 'x'::bytea`)
    await fill(5, `'2000-01-01', '2100-01-01', 1, gen_random_uuid(), 1::smallint, '{}'::bytea`)
    await fill(7, `'2000-01-01', null, 1, gen_random_uuid(), 6::smallint, '{}'::bytea`)
    expect(await port.admin.sweep({ batch: 8, pauseMs: 0 })).toEqual({ removed: 40, abandoned: 0 })
    expect(await count()).toBe(32)
    expect(await port.admin.sweep()).toEqual({ removed: 0, abandoned: 0 })
  })

  it('leaves a record until the clock is past its fence (S3)', async () => {
    await fill(1, `now() - interval '1 hour', null, 9000000000000000000, null, 3::smallint, '{}'::bytea`)
    expect(await port.admin.sweep()).toEqual({ removed: 0, abandoned: 0 })
    expect(await count()).toBe(1)
  })

  describe('abandons a claim past its lease', () => {
    const past = `lease_end = clock_timestamp()`

    it('to open, with its token, fence and end of deduplication, for as long as its writer would keep it (S5)', async () => {
      const held = await port.won(wanted({ policy: { after: dedupes, retain: '90h' } }))
      await port.set(held.id, past)
      expect(await port.admin.sweep()).toEqual({ removed: 0, abandoned: 1 })
      const row = await port.row(held.id)
      expect(row).toMatchObject({ state: STATE.open, fence: String(held.fence), token: expect.any(String) })
      expect((row?.ends ?? 0) / 3_600_000).toBeCloseTo(90, 1)
      expect((row?.leaseEnds ?? 0) / 3_600_000).toBeCloseTo(24, 1)
      expect(await port.driver.complete(held, { receipt: Uint8Array.of(1) })).toBe('done')
    })

    it('never for less than the downstream remembers it', async () => {
      const held = await port.won(wanted({ policy: { after: dedupes, retain: '1h' } }))
      await port.set(held.id, past)
      await port.admin.sweep()
      expect(((await port.row(held.id))?.ends ?? 0) / 3_600_000).toBeCloseTo(24, 1)
    })

    it('to unknown where its writer said hold; its owner may still end it', async () => {
      const held = await port.won(wanted({ policy: { after: downstreamDoesNot } }))
      await port.set(held.id, past)
      await port.admin.sweep()
      const { record } = (await port.driver.read(held.id)) as SeenRecord
      expect(record).toMatchObject({ state: 'unknown', why: 'its owner vanished', key: held.label.key })
      expect(await port.told(repeat(held))).toBe('unknown')
      expect(await port.driver.complete(held, { receipt: Uint8Array.of(1) })).toBe('done')
    })

    it('in batches, and no claim that still runs', async () => {
      await fill(25, `null, now() - interval '1 s', 1, gen_random_uuid(), 1::smallint, '{}'::bytea`)
      const live = await port.won(wanted())
      expect(await port.admin.sweep({ batch: 4, pauseMs: 0 })).toEqual({ removed: 0, abandoned: 25 })
      expect((await port.row(live.id))?.state).toBe(STATE.takeover)
    })
  })

  it('stops when it is told to', async () => {
    await fill(100, FINISHED_OVER)
    const stop = new AbortController()
    const sweeping = port.admin.sweep({ batch: 10, pauseMs: 60_000, signal: stop.signal })
    while ((await count()) === 100);
    stop.abort()
    expect((await sweeping).removed).toBe(10)
  })

  it('steps around rows that somebody has locked, and gets them the next time', async () => {
    await fill(10, FINISHED_OVER)
    const client = await port.pool.connect()
    try {
      await client.query(`begin; select from ${port.record} limit 3 for update`)
      expect((await port.admin.sweep()).removed).toBe(7)
    } finally {
      await client.query('rollback')
      client.release()
    }
    expect((await port.admin.sweep()).removed).toBe(3)
  })

  it(`two sweepers share ${ROWS} records while claims go on (Pulsefy/Soter#1137)`, { timeout: 300_000 }, async () => {
    await fill(ROWS, FINISHED_OVER)
    await fill(1_000, `now() + interval '1 hour', null, null, null, 4::smallint, 'x'::bytea`)
    let sweeping = true
    let claims = 0
    async function traffic(): Promise<void> {
      while (sweeping) {
        const held = await port.won(wanted())
        expect(await port.driver.complete(held, { receipt: Uint8Array.of(1) })).toBe('done')
        claims += 1
      }
    }
    const busy = Promise.all([traffic(), traffic()])
    const swept = await Promise.all([port.admin.sweep({ pauseMs: 5 }), port.admin.sweep({ pauseMs: 5 })])
    // What one had locked the other stepped around.
    const after = await port.admin.sweep({ pauseMs: 0 })
    sweeping = false
    await busy
    expect(swept[0].removed + swept[1].removed + after.removed).toBe(ROWS)
    expect(claims).toBeGreaterThan(0)
    expect(await count()).toBe(1_000 + claims)
  })

  it('refuses a schema that was replaced under it (I4)', async () => {
    await port.admin.sweep()
    await port.pool.query(`update ${port.schema}.meta set epoch = gen_random_uuid()`)
    await expect(port.admin.sweep()).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
  })

  it('refuses a batch that would remove nothing', async () => {
    await expect(port.admin.sweep({ batch: 0 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
