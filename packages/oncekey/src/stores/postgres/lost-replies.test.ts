/** What a caller is told when an answer of the database is lost, and what stands there afterwards (protocol, section 5). */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describePostgres, freshSchema, onPostgres } from '../../../../../test/support/postgres.ts'
import { adapters, type Opened } from '../../../../../test/support/postgres-adapters.ts'
import { once } from '../../core/once.ts'
import type { Operation } from '../../core/operation.ts'
import { databaseOnly, downstreamDedupes } from '../../core/policy.ts'
import { type FaultProxy, faultProxy } from '../../testing/proxy.ts'
import { postgres } from './index.ts'

/** Not `read committed`. */
const COMMIT = /\bcommit\b/
/** No word boundary before it: the byte there belongs to the message's length. */
const BEGIN = /begin isolation/

describePostgres.each(adapters)('lost answers, over $name', ({ open }) => {
  const fresh = freshSchema()
  const stores: AsyncDisposable[] = []
  let proxy: FaultProxy
  let opened: Opened
  let direct: Opened

  beforeAll(async () => {
    direct = open(fresh.url)
    await storeOver(direct).admin.migrate()
    await onPostgres(`create table ${fresh.schema}.effect (mark text not null)`, fresh.url)
  })
  beforeEach(async () => {
    proxy = await faultProxy({ to: fresh.url, latencyMs: 2 })
    opened = open(proxy.url)
  })
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]()
    await opened.end().catch(() => {})
  })
  afterAll(() => direct.end())

  function storeOver({ database }: Opened) {
    const store = postgres(database, { schema: fresh.schema })
    stores.push(store)
    return store
  }
  const operation = (): Operation => ({ scope: 'tenant', key: randomUUID(), fingerprints: ['body'] })
  const run = (charge: Operation, over = opened, work: () => Promise<unknown> = async () => {}) =>
    once(storeOver(over), charge, async ({ tx }) => {
      await over.run(tx, `insert into ${fresh.schema}.effect values ('${charge.key}')`)
      await work()
      return 'charged'
    })
  const effects = async ({ key }: Operation) =>
    (await onPostgres(`select 1 from ${fresh.schema}.effect where mark = '${key}'`, fresh.url)).rowCount
  /** The check of the schema and a connection, so that only what is asked for meets the fault. */
  const warm = () => run(operation())

  it('COMMIT that the server never got: the key is free, and the caller is told to try again', async () => {
    await warm()
    const charge = operation()
    proxy.next(COMMIT, { kind: 'cut', at: 'request' })
    await expect(run(charge)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    expect(await effects(charge)).toBe(0)
    expect(await run(charge)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await effects(charge)).toBe(1)
  })

  it('COMMIT that was carried out: the answer comes from the record', async () => {
    await warm()
    const charge = operation()
    proxy.next(COMMIT, { kind: 'cut', at: 'answer' })
    expect(await run(charge)).toMatchObject({ kind: 'replayed', value: 'charged' })
    expect(await effects(charge)).toBe(1)
  })

  it('COMMIT that nobody answers, and no database behind it: unknown to the caller, and safe to repeat', async () => {
    await warm()
    const charge = operation()
    const armed = proxy.next(COMMIT, { kind: 'silence', at: 'answer', reach: 'server' })
    await expect(run(charge)).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await armed.struck
    expect(await run(charge, direct)).toMatchObject({ kind: 'replayed', value: 'charged' })
    expect(await effects(charge)).toBe(1)
  })

  it('COMMIT cut off together with its server: unknown, and the repeat finds out', async () => {
    await warm()
    const charge = operation()
    proxy.next(COMMIT, { kind: 'cut', at: 'request', reach: 'server' })
    await expect(run(charge)).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(await run(charge, direct)).toMatchObject({ kind: 'ran' })
    expect(await effects(charge)).toBe(1)
  })

  it.each(['request', 'answer'] as const)(
    'a claim that is lost (%s): the work did not run, and the key is free',
    async (at) => {
      await warm()
      const charge = operation()
      proxy.next(BEGIN, { kind: 'cut', at })
      const error = await run(charge).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_UNAVAILABLE|TRY_AGAIN)$/) })
      expect(await effects(charge)).toBe(0)
      expect(await run(charge)).toMatchObject({ kind: 'ran' })
      expect(await effects(charge)).toBe(1)
    },
  )

  it('T13: a claim that is answered too late runs no work', async () => {
    await warm()
    const charge = operation()
    const armed = proxy.next(BEGIN, { kind: 'delay', answerMs: 1_400 })
    await expect(run(charge)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await armed.struck
    await sleep(100)
    expect(await effects(charge)).toBe(0)
    expect(await run(charge)).toMatchObject({ kind: 'ran' })
    expect(await effects(charge)).toBe(1)
  })

  it.each(['down', 'silence'] as const)(
    'a server in %s: unavailable in about a second, and the work never runs',
    async (state) => {
      await warm()
      proxy[state]()
      const charge = operation()
      const told = run(charge).catch((error: unknown) => error)
      expect(await Promise.race([told, sleep(3_000, 'still waiting')])).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      await proxy.up()
      await sleep(300)
      expect(await effects(charge)).toBe(0)
      await expect.poll(() => run(charge).catch(() => 'not yet'), { timeout: 8_000 }).toMatchObject({ kind: 'ran' })
      expect(await effects(charge)).toBe(1)
    },
  )

  it('T12: a connection that dies under the work aborts its signal, keeps nothing and frees the key', async () => {
    await warm()
    const charge = operation()
    let aborted = false
    const lost = once(storeOver(opened), charge, async ({ tx, signal }) => {
      await opened.run(tx, `insert into ${fresh.schema}.effect values ('${charge.key}')`)
      const seen = signal.aborted ? undefined : new Promise((resolve) => signal.addEventListener('abort', resolve))
      const [row] = (await opened.run(tx, 'select pg_backend_pid() as pid')) as { pid: number }[]
      await onPostgres(`select pg_terminate_backend(${row?.pid})`)
      await seen
      aborted = signal.aborted
      return 'charged'
    })
    await expect(lost).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    expect(aborted).toBe(true)
    expect(await effects(charge)).toBe(0)
    expect(await run(charge)).toMatchObject({ kind: 'ran' })
  })

  it('a new key waits for three flights, and a replay for one', async () => {
    const store = storeOver(opened)
    const charge = operation()
    const attempt = (one: Operation) =>
      once(store, one, async ({ tx }) => {
        await opened.run(tx, `insert into ${fresh.schema}.effect values ('${one.key}')`)
        return 'charged'
      })
    // The check of the schema, a connection, and where statements have names, their parsing.
    for (let n = 0; n < 3; n += 1) await attempt(operation())
    expect(await flightsOf(() => attempt(charge))).toBe(3)
    await sleep(20)
    expect(await flightsOf(() => attempt(charge))).toBe(1)
  })

  async function flightsOf(during: () => Promise<unknown>): Promise<number> {
    const before = proxy.flights.answered
    await during()
    return proxy.flights.answered - before
  }

  it.each(['request', 'answer'] as const)(
    'in lease mode a claim whose reply is lost (%s) is sent again and wins',
    async (at) => {
      const charge = operation()
      const store = postgres(opened.database, {
        mode: 'lease',
        ...downstreamDedupes({ for: '1h' }),
        schema: fresh.schema,
      })
      await once(store, operation(), async () => 'warm')
      proxy.next((message) => Buffer.from(message).includes('insert into'), { kind: 'cut', at })
      let runs = 0
      const outcome = await once(store, charge, async () => {
        runs += 1
        return 'charged'
      })
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
      expect(runs).toBe(1)
      expect(await once(store, charge, async () => 'again')).toMatchObject({ kind: 'replayed', value: 'charged' })
    },
  )

  it('in lease mode a completion whose reply is lost is read back', async () => {
    const charge = operation()
    const store = postgres(opened.database, { mode: 'lease', ...databaseOnly, schema: fresh.schema })
    await once(store, operation(), async () => 'warm')
    let runs = 0
    const outcome = await once(store, charge, async () => {
      runs += 1
      proxy.next(/update/i, { kind: 'cut', at: 'answer' })
      return 'charged'
    })
    expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(runs).toBe(1)
    expect(await once(store, charge, async () => 'again')).toMatchObject({ kind: 'replayed', value: 'charged' })
  })
})
