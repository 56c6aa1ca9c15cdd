/** Sweeping a table that is in use: bounded, complete, and felt by nobody. */
import { beforeEach, describe, expect, it } from 'vitest'
import { dedupes, repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { downstreamDoesNot } from '../../core/policy.ts'
import type { SeenRecord } from '../../core/record.ts'
import type { Swept } from '../../core/store.ts'
import { writeKept } from '../kept.ts'
import { STATE } from '../row.ts'

const ROWS = process.env.ONCEKEY_TEST_ALL === '1' ? 500_000 : 50_000

describePostgres('the sweeper on PostgreSQL', () => {
  const port = freshLeasePort({ connections: 12 })
  beforeEach(() => port.pool.query(`truncate ${port.record}; update ${port.schema}.meta set sweep_place = null`))

  async function fill(rows: number, columns: string): Promise<void> {
    await port.pool.query(`
      insert into ${port.record} (k, fingerprint, expires_at, lease_end, fence, token, state, body)
      select gen_random_uuid(), gen_random_uuid(), ${columns} from generate_series(1, ${rows}) as n`)
  }
  async function count(where = 'true'): Promise<number> {
    const { rows } = await port.pool.query(`select count(*)::int as n from ${port.record} where ${where}`)
    return rows[0].n
  }
  const swept = (counts: Partial<Swept> = {}): Swept => ({
    ...{ removed: 0, expired: 0, abandoned: 0, complete: true },
    ...counts,
  })
  const FINISHED_OVER = `now() - interval '1 hour', null, null, gen_random_uuid(), 4::smallint, 'x'::bytea`

  it('removes what is past its end, and nothing else: running and unknown stay, however old (O-55)', async () => {
    await fill(30, FINISHED_OVER)
    await fill(10, `now() - interval '1 hour', null, 1, gen_random_uuid(), 3::smallint, '{}'::bytea`)
    await fill(20, `now() + interval '1 hour', null, null, null, 4::smallint, 'x'::bytea`)
    await fill(5, `'2000-01-01', '2100-01-01', 1, gen_random_uuid(), 1::smallint, '{}'::bytea`)
    await fill(7, `'2000-01-01', null, 1, gen_random_uuid(), 6::smallint, '{}'::bytea`)
    expect(await port.admin.sweep({ batch: 8, pauseMs: 0 })).toEqual(swept({ removed: 40 }))
    expect(await count()).toBe(32)
    expect(await port.admin.sweep()).toEqual(swept())
  })

  it('leaves a record until the clock is past its fence (S3)', async () => {
    await fill(1, `now() - interval '1 hour', null, 9000000000000000000, null, 3::smallint, '{}'::bytea`)
    expect(await port.admin.sweep()).toEqual(swept())
    expect(await count()).toBe(1)
  })

  describe('abandons a claim past its lease', () => {
    const past = `lease_end = clock_timestamp()`

    it('to open, with its token, fence and end of deduplication, for as long as its writer would keep it (S5)', async () => {
      const held = await port.won(wanted({ policy: { after: dedupes, retain: '90h' } }))
      await port.set(held.id, past)
      expect(await port.admin.sweep()).toEqual(swept({ abandoned: 1 }))
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
      expect(await port.admin.sweep({ batch: 4, pauseMs: 0 })).toEqual(swept({ abandoned: 25 }))
      expect((await port.row(live.id))?.state).toBe(STATE.takeover)
    })
  })

  describe('leaves a tombstone of an answer past its retention', () => {
    const head = Uint8Array.of(2, 0, 1)
    const answer = (receipt: Uint8Array) => ({ receipt, head })

    it.each([
      ['short', Uint8Array.of(7)],
      ['empty', new Uint8Array()],
      ['like a tombstone itself', writeKept({ receipt: Uint8Array.of(7) }, true)],
      ['of 1 MiB', new Uint8Array(1_048_576).fill(0)],
    ])('whose receipt was %s: its label is cut out of the body, and nothing else stays', async (_, receipt) => {
      const held = await port.won(wanted({ policy: { retain: '1h', tombstone: '30d' } }))
      expect(await port.driver.complete(held, answer(receipt))).toBe('done')
      expect(await port.admin.sweep()).toEqual(swept())
      await port.set(held.id, 'expires_at = clock_timestamp()')
      expect(await port.admin.sweep()).toEqual(swept({ expired: 1 }))
      const row = await port.row(held.id)
      expect(row).toMatchObject({ state: STATE.spent, leaseEnds: null })
      expect(JSON.parse(row?.body.toString() ?? '')).toEqual({ why: 'expired', head: 'AgAB' })
      expect((row?.ends ?? 0) / 3_600_000).toBeCloseTo(30 * 24 + 1, 1)
      const { record } = (await port.driver.read(held.id)) as SeenRecord
      expect(record).toMatchObject({ state: 'finished', why: 'expired', head })
      expect(await port.told(repeat(held))).toBe('finished')
      expect(await port.admin.sweep()).toEqual(swept())
    })

    it('and removes it when the tombstone is over too, also where no sweep came between', async () => {
      const policy = { retain: '1h', tombstone: '30d' } as const
      for (const over of ['expires_at = clock_timestamp()', 'lease_end = clock_timestamp()']) {
        const held = await port.won(wanted({ policy }))
        await port.driver.complete(held, answer(Uint8Array.of(7)))
        await port.set(held.id, over)
        await port.admin.sweep()
        await port.set(held.id, 'expires_at = clock_timestamp(), lease_end = null')
        await port.admin.sweep()
        expect(await port.row(held.id)).toBeUndefined()
      }
    })

    it('none where none was wanted: the record goes, and its body was the receipt alone', async () => {
      const held = await port.won(wanted())
      await port.driver.complete(held, answer(Uint8Array.of(7)))
      expect(await port.row(held.id)).toMatchObject({ body: Buffer.of(7), leaseEnds: null })
      await port.set(held.id, 'expires_at = clock_timestamp()')
      expect(await port.admin.sweep()).toEqual(swept({ removed: 1 }))
    })

    it('a body that no build of ours wrote leaves a tombstone all the same', async () => {
      for (const body of [`'x'`, `''`, `'\\x00'`, `'\\x0000'`, `'\\x00aa'`, 'null'])
        await fill(1, `now() - interval '1 s', now() + interval '1 hour', null, null, 4::smallint, ${body}::bytea`)
      expect(await port.admin.sweep()).toEqual(swept({ expired: 6 }))
      const { rows } = await port.pool.query(`select body from ${port.record}`)
      expect(rows.map(({ body }) => body?.toString())).toEqual(Array.from({ length: 6 }, () => '{"why":"expired"}'))
    })
  })

  it('stops when it is told to', async () => {
    await fill(100, FINISHED_OVER)
    const stop = new AbortController()
    const sweeping = port.admin.sweep({ batch: 10, pauseMs: 60_000, signal: stop.signal })
    while ((await count()) === 100);
    stop.abort()
    expect(await sweeping).toEqual(swept({ removed: 10, complete: false }))
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

  it(`removes ${ROWS} records while claims go on, and another sweep is told that one is at work (Pulsefy/Soter#1137)`, {
    timeout: 300_000,
  }, async () => {
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
    const both = await Promise.all([port.admin.sweep({ pauseMs: 5 }), port.admin.sweep({ pauseMs: 5 })])
    sweeping = false
    await busy
    expect(both).toContainEqual(swept({ removed: ROWS }))
    expect(both).toContainEqual(swept({ complete: false, elsewhere: true }))
    expect(claims).toBeGreaterThan(0)
    expect(await count()).toBe(1_000 + claims)
  })

  it('refuses a schema that was replaced under it (I4)', async () => {
    await port.admin.sweep()
    await port.pool.query(`update ${port.schema}.meta set epoch = gen_random_uuid()`)
    await expect(port.admin.sweep()).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
  })

  it.each([{ batch: 0 }, { batch: 1.5 }, { limit: 0 }, { limit: Number.NaN }])(
    'refuses %j, which would remove nothing',
    async (options) => {
      await expect(port.admin.sweep(options)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    },
  )
})
