/** One sweep at a time, whoever starts it; a part of it in each call, and nothing lost when its process dies. */
import { beforeEach, expect, it } from 'vitest'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { sweeperProcess } from '../../../../../test/support/sweeper-process.ts'

describePostgres('sweeps of one table on PostgreSQL', () => {
  const port = freshLeasePort()
  const ELSEWHERE = { removed: 0, expired: 0, abandoned: 0, complete: false, elsewhere: true }

  beforeEach(async () => {
    await port.pool.query(`truncate ${port.record}`)
    await port.pool.query(`update ${port.schema}.meta set sweeper = null, sweeper_until = null, sweep_place = null`)
  })
  async function fill(rows: number): Promise<void> {
    await port.pool.query(`
      insert into ${port.record} (k, fingerprint, expires_at, state, body)
      select gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour', 4, 'x'::bytea from generate_series(1, ${rows})`)
  }
  async function count(): Promise<number> {
    const { rows } = await port.pool.query(`select count(*)::int as n from ${port.record}`)
    return rows[0].n
  }
  async function meta() {
    const { rows } = await port.pool.query(`select sweeper, sweeper_until, sweep_place from ${port.schema}.meta`)
    return rows[0]
  }

  it('another process that sweeps is not disturbed, and one that was killed is gone on from where it was', async () => {
    await fill(1_000)
    await using other = await sweeperProcess({ url: port.url, schema: port.schema, batch: 100, pauseMs: 1_000 })
    await expect.poll(count, { timeout: 10_000, interval: 20 }).toBeLessThanOrEqual(900)
    expect(await port.admin.sweep()).toEqual(ELSEWHERE)
    await other.kill()
    const left = await count()
    expect(left).toBeGreaterThan(0)
    // Nobody knows yet that it is dead.
    expect(await port.admin.sweep()).toEqual(ELSEWHERE)
    const { sweep_place } = await meta()
    expect(sweep_place).toMatch(/^\(\d+,[1-9]\d*\)$/)
    await port.pool.query(`update ${port.schema}.meta set sweeper_until = clock_timestamp()`)
    expect(await port.admin.sweep()).toMatchObject({ removed: left, complete: true })
    expect(await meta()).toEqual({ sweeper: null, sweeper_until: null, sweep_place: null })
  })

  it('its claim lasts a minute longer than the rest that it takes, and is renewed by every step', async () => {
    await fill(30)
    const stop = new AbortController()
    const sweeping = port.admin.sweep({ batch: 10, pauseMs: 600_000, signal: stop.signal })
    await expect.poll(async () => (await meta()).sweep_place).not.toBeNull()
    const { rows } = await port.pool.query(
      `select extract(epoch from sweeper_until - clock_timestamp())::float8 as left from ${port.schema}.meta`,
    )
    expect(rows[0].left).toBeGreaterThan(650)
    expect(rows[0].left).toBeLessThanOrEqual(660)
    stop.abort()
    expect(await sweeping).toMatchObject({ removed: 10, complete: false })
    expect(await meta()).toMatchObject({ sweeper: null, sweeper_until: null })
  })

  it('one whose claim was taken over meanwhile stops, and leaves the other its place', async () => {
    await fill(30)
    const stolen = { sweeper: '00000000-0000-0000-0000-000000000001', sweep_place: '(7,7)' }
    const sweeping = port.admin.sweep({ batch: 10, pauseMs: 300 })
    await expect.poll(count, { interval: 10 }).toBe(20)
    await port.pool.query(
      `update ${port.schema}.meta set sweeper = $1, sweep_place = $2, sweeper_until = 'infinity'`,
      Object.values(stolen),
    )
    expect(await sweeping).toMatchObject({ complete: false })
    expect(await count()).toBeGreaterThanOrEqual(10)
    expect(await meta()).toMatchObject(stolen)
  })

  it('goes on from where a limit ended it, and the table is whole again when it says so', async () => {
    await fill(95)
    const calls: number[] = []
    for (let complete = false; !complete; ) {
      const swept = await port.admin.sweep({ batch: 10, pauseMs: 0, limit: 20 })
      calls.push(swept.removed)
      complete = swept.complete
    }
    expect(calls).toEqual([20, 20, 20, 20, 15])
    expect(await count()).toBe(0)
  })

  it('looks at about as many records as it may, also where none of them is over', async () => {
    await port.pool.query(`
      insert into ${port.record} (k, fingerprint, expires_at, state, body)
      select gen_random_uuid(), gen_random_uuid(), now() + interval '1 hour', 4, 'x'::bytea from generate_series(1, 10000)`)
    await port.pool.query(`analyze ${port.record}`)
    const before = async () => {
      const [block] = (await meta()).sweep_place.slice(1).split(',').map(Number)
      const { rows } = await port.pool.query(
        `select count(*)::int as n from ${port.record} where ctid < '(${block},0)'`,
      )
      return rows[0].n
    }
    for (const looked of [3_000, 6_000]) {
      expect(await port.admin.sweep({ limit: 3_000 })).toMatchObject({ removed: 0, complete: false })
      expect(await before()).toBeGreaterThanOrEqual(looked - 200)
      expect(await before()).toBeLessThanOrEqual(looked + 400)
    }
  })

  it('begins anew where the table ends before the place that was kept', async () => {
    await fill(10)
    await port.pool.query(`update ${port.schema}.meta set sweep_place = '(4000,1)'`)
    expect(await port.admin.sweep()).toMatchObject({ removed: 10, complete: true })
  })

  it('a sweep that fails gives its claim back', async () => {
    await fill(10)
    await port.pool.query(`alter table ${port.record} rename to gone`)
    try {
      await expect(port.admin.sweep()).rejects.toMatchObject({ code: '42P01' })
    } finally {
      await port.pool.query(`alter table ${port.schema}.gone rename to record`)
    }
    expect(await port.admin.sweep()).toMatchObject({ removed: 10, complete: true })
  })
})
