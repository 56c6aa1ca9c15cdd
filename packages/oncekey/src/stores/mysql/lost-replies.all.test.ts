/** What a caller is told when an answer of the database is lost, and what stands there afterwards (protocol, section 5). */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'mysql2/promise'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { chargesAt, never, operation } from '../../../../../test/support/mysql-charges.ts'
import { mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { once } from '../../core/once.ts'
import type { Operation } from '../../core/operation.ts'
import { databaseOnly } from '../../core/policy.ts'
import { type FaultProxy, faultProxy } from '../../testing/proxy.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { mysql } from './index.ts'

/** The block that ends a transaction of ours with its record. */
const COMMIT = /release savepoint oncekey_work/
const BEGIN = /start transaction read write/

describeMariadb('lost answers', () => {
  const place = mysqlPlace()
  const { run: direct } = chargesAt(place)
  let proxy: FaultProxy
  let pool: Pool

  beforeEach(async () => {
    proxy = await faultProxy({ to: place.url, latencyMs: 2 })
    pool = place.open(proxy.url, { connectionLimit: 4 })
    await run(operation())
  })
  afterEach(() => proxy[Symbol.asyncDispose]())

  const run = (charge: Operation) => {
    const store = mysql(fromMysql2(pool, { commitMs: 1_000 }), {})
    return once(store, charge, async ({ tx }) => {
      await place.write(tx, charge.key)
      return 'charged'
    })
  }

  it('COMMIT that the server never got: the key is free, and the caller is told to try again', async () => {
    const charge = operation()
    proxy.next(COMMIT, { kind: 'cut', at: 'request' })
    await expect(run(charge)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    expect(await place.count(charge.key)).toBe(0)
    expect(await run(charge)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await place.count(charge.key)).toBe(1)
  })

  it('COMMIT that was carried out: the answer comes from the record', async () => {
    const charge = operation()
    proxy.next(COMMIT, { kind: 'cut', at: 'answer' })
    expect(await run(charge)).toMatchObject({ kind: 'replayed', value: 'charged' })
    expect(await place.count(charge.key)).toBe(1)
  })

  it('COMMIT that nobody answers, and no database behind it: unknown to the caller, and safe to repeat', async () => {
    const charge = operation()
    const armed = proxy.next(COMMIT, { kind: 'silence', at: 'answer', reach: 'server' })
    await expect(run(charge)).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await armed.struck
    expect(await direct(charge, never)).toMatchObject({ kind: 'replayed', value: 'charged' })
    expect(await place.count(charge.key)).toBe(1)
  })

  it.each(['request', 'answer'] as const)(
    'a claim that is lost (%s): the work did not run, and the key is free',
    async (at) => {
      const charge = operation()
      proxy.next(BEGIN, { kind: 'cut', at })
      const error = await run(charge).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_UNAVAILABLE|TRY_AGAIN)$/) })
      expect(await place.count(charge.key)).toBe(0)
      await expect.poll(() => direct(charge), { timeout: 5_000 }).toMatchObject({ kind: 'ran' })
      expect(await place.count(charge.key)).toBe(1)
    },
  )

  it('T13: a claim that is answered too late runs no work', async () => {
    const charge = operation()
    const armed = proxy.next(BEGIN, { kind: 'delay', answerMs: 1_400 })
    await expect(run(charge)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await armed.struck
    await sleep(100)
    expect(await place.count(charge.key)).toBe(0)
    await expect.poll(() => direct(charge), { timeout: 5_000 }).toMatchObject({ kind: 'ran' })
    expect(await place.count(charge.key)).toBe(1)
  })

  it.each(['down', 'silence'] as const)(
    'a server in %s: unavailable in about a second, and the work never runs',
    async (state) => {
      proxy[state]()
      const charge = operation()
      const told = run(charge).catch((error: unknown) => error)
      expect(await Promise.race([told, sleep(3_000, 'still waiting')])).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      await proxy.up()
      await sleep(300)
      expect(await place.count(charge.key)).toBe(0)
      await expect.poll(() => run(charge).catch(() => 'not yet'), { timeout: 8_000 }).toMatchObject({ kind: 'ran' })
      expect(await place.count(charge.key)).toBe(1)
    },
  )

  it.each([
    ['request', 'nothing of it is there, and the outcome is held', 'OUTCOME_UNKNOWN', 'unknown', 0],
    ['answer', 'its effect and its answer are there', 'ran', 'replayed', 1],
  ] as const)('the COMMIT of a late transaction in lease mode, lost (%s): %s', async (at, _, first, then, effects) => {
    const database = fromMysql2(pool, { commitMs: 1_000 })
    const store = mysql(database, { mode: 'lease', lease: '1s', work: '3s', ...databaseOnly })
    const charge = operation()
    const attempt = () =>
      once(store, charge, async (grant) => {
        await place.write(await grant.begin(), charge.key)
        return 'charged'
      })
    expect((await once(store, operation(), async () => 'warm')).kind).toBe('ran')
    proxy.next(COMMIT, { kind: 'cut', at })
    expect(
      await attempt().then(
        ({ kind }) => kind,
        ({ code }) => code,
      ),
    ).toBe(first)
    expect((await attempt()).kind).toBe(then)
    expect(await place.count(charge.key)).toBe(effects)
    await store[Symbol.asyncDispose]()
  })

  it('a new key waits for four flights, and a replay for one', async () => {
    const single = place.open(proxy.url, { connectionLimit: 1 })
    const store = mysql(fromMysql2(single), { maxWinners: 1 })
    const attempt = (one: Operation) =>
      once(store, one, async ({ tx }) => {
        await place.write(tx, one.key)
        return 'charged'
      })
    const charge = operation()
    for (let n = 0; n < 2; n += 1) await attempt(operation())
    expect(await flightsOf(() => attempt(charge))).toBe(4)
    expect(await flightsOf(() => attempt(charge))).toBe(1)
    const locked = mysql(fromMysql2(single), { maxWinners: 1, read: 'locked' })
    await once(locked, operation(), async () => 'warm')
    expect(await flightsOf(() => once(locked, operation(), ({ tx }) => place.write(tx, 'x')))).toBe(3)
  })

  async function flightsOf(during: () => Promise<unknown>): Promise<number> {
    await sleep(50)
    const before = proxy.flights.sent
    await during()
    return proxy.flights.sent - before
  }
})
