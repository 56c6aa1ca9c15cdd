// The whole at its worst moment, over HTTP: the store goes away before, during and after the work, and money moves once.
import { type AfterFailure, downstreamDedupes, downstreamDoesNot, type Grant, type Store } from 'oncekey'
import { newKey } from 'oncekey/client'
import { fromPg, postgres } from 'oncekey/postgres'
import { type FaultProxy, faultProxy } from 'oncekey/testing'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describePostgres, freshDatabase, onPostgres } from './support/postgres.ts'
import { type Endpoint, serving as serve } from './support/serving.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function serving<G extends Grant>(store: Store<G>, work: (grant: G) => Promise<unknown>): Promise<Endpoint> {
  const endpoint = await serve(store, work)
  ending.push(endpoint.end)
  return endpoint
}

describePostgres('over HTTP, on a Postgres that goes away', () => {
  const database = freshDatabase()
  let proxy: FaultProxy
  let pool: pg.Pool
  beforeEach(async () => {
    await onPostgres(
      'drop schema if exists oncekey cascade; drop table if exists charge; create table charge (amount integer)',
      database.url,
    )
    proxy = await faultProxy({ to: database.url })
    pool = new pg.Pool({ connectionString: proxy.url, max: 4 })
    pool.on('error', () => {})
    ending.push(
      async () => proxy[Symbol.asyncDispose](),
      () => pool.end(),
    )
  })

  const charges = async () => Number((await onPostgres('select count(*) as n from charge', database.url)).rows[0].n)

  /** The charge is a row beside its key. */
  async function inTransaction(during: () => unknown = () => {}) {
    const store = postgres(fromPg(pool))
    await store.admin.migrate()
    return serving(store, async ({ tx }) => {
      await tx.query('insert into charge (amount) values (1)')
      await during()
    })
  }

  /** The charge is made elsewhere, by a bank that dedupes on the child key where `after` says that it does. */
  async function elsewhere(after: AfterFailure, during: () => unknown = () => {}) {
    const store = postgres(fromPg(pool), { mode: 'lease', lease: '1s', work: '2s', ...after })
    await store.admin.migrate()
    const moved: string[] = []
    let asked = 0
    const bank = (key: string) => {
      asked += 1
      if (!moved.includes(key)) moved.push(key)
    }
    const api = await serving(store, async (grant) => {
      bank(after.onFailure === 'retry' ? grant.childKey('charge') : newKey())
      if (asked === 1) await during()
    })
    return { ...api, moved, asked: () => asked }
  }

  it('that is down: 503 with Retry-After, and the work does not run, now or later', async () => {
    const { post } = await inTransaction()
    proxy.down()
    expect(await post('k1')).toMatchObject({
      status: 503,
      code: 'store-unavailable',
      retryAfter: expect.stringMatching(/^[1-9]/),
    })
    await proxy.up()
    expect(await charges()).toBe(0)
    expect((await post('k1')).status).toBe(201)
    expect(await charges()).toBe(1)
  })

  it('that hangs: 503, and a claim that gets through later runs nothing (VilledeMontreal/express-idempotency#33)', async () => {
    const { post } = await inTransaction()
    expect((await post('warm')).status).toBe(201)
    proxy.silence()
    expect(await post('k1')).toMatchObject({ status: 503, code: 'store-unavailable' })
    await proxy.up()
    expect(await charges()).toBe(1)
    expect((await post('k1')).status).toBe(201)
    expect(await charges()).toBe(2)
  })

  it('whose COMMIT never arrived: 503 try-again, the key is free, the retry charges', async () => {
    const { post } = await inTransaction()
    proxy.next('insert into "oncekey".record', { kind: 'cut', at: 'request' })
    expect(await post('k1')).toMatchObject({ status: 503, code: 'try-again' })
    expect(await charges()).toBe(0)
    expect(await post('k1')).toMatchObject({ status: 201, replayed: false })
    expect(await charges()).toBe(1)
  })

  it('whose COMMIT was done and not acknowledged: the answer comes from the record', async () => {
    const { post } = await inTransaction()
    proxy.next('insert into "oncekey".record', { kind: 'cut', at: 'answer' })
    expect((await post('k1')).status).toBe(201)
    expect(await post('k1')).toMatchObject({ status: 201, replayed: true })
    expect(await charges()).toBe(1)
  })

  it('that is gone for good at COMMIT: 503 commit-unknown, and the same key is safe', async () => {
    const { post } = await inTransaction()
    proxy.next('insert into "oncekey".record', { kind: 'cut', at: 'answer', reach: 'server' })
    expect(await post('k1')).toMatchObject({
      status: 503,
      code: 'commit-unknown',
      retryAfter: expect.stringMatching(/^[1-9]/),
    })
    await proxy.up()
    expect(await post('k1')).toMatchObject({ status: 201, replayed: true })
    expect(await charges()).toBe(1)
  })

  it('where a constraint fails only at COMMIT: 500, no charge, and no 201 has left', async () => {
    await onPostgres(
      `create table account (id integer primary key);
       alter table charge add column account integer references account deferrable initially deferred`,
      database.url,
    )
    const store = postgres(fromPg(pool))
    await store.admin.migrate()
    const { post } = await serving(
      store,
      async ({ tx }) => void (await tx.query('insert into charge (amount, account) values (1, 7)')),
    )
    expect((await post('k1')).status).toBe(500)
    expect(await charges()).toBe(0)
    await onPostgres('insert into account values (7)', database.url)
    expect((await post('k1')).status).toBe(201)
    await onPostgres('drop table account cascade', database.url)
  })

  it('cut at any message of a claim: no claim without the end of its lease (aws-powertools/powertools-lambda-python#1181)', async () => {
    const api = await elsewhere(downstreamDedupes({ for: '24h' }))
    const endless = 'select count(*) as n from oncekey.record where state in (1, 2) and lease_end is null'
    expect((await api.post('warm')).status).toBe(201)
    for (const at of ['request', 'answer'] as const)
      for (let message = 1; message <= 3; message++) {
        const armed = proxy.next(nth(message), { kind: 'cut', at })
        const key = `${at}-${message}`
        await api.post(key)
        armed.disarm()
        expect(Number((await onPostgres(endless, database.url)).rows[0].n)).toBe(0)
        await api.until(key, 201)
      }
    expect(new Set(api.moved).size).toBe(7)
  })

  it('that is gone when the work is done, a bank that dedupes: 500 outcome-unknown, asked again, money moves once', async () => {
    const api = await elsewhere(downstreamDedupes({ for: '24h' }), () => proxy.down())
    expect(await api.post('k1')).toMatchObject({ status: 500, code: 'outcome-unknown' })
    await proxy.up()
    await api.until('k1', 201)
    expect(api.moved).toHaveLength(1)
    expect(api.asked()).toBeLessThanOrEqual(2)
  })

  it('that is gone when the work is done, a bank that does not: unknown until somebody settles it, and asked once', async () => {
    const api = await elsewhere(downstreamDoesNot, () => proxy.down())
    expect(await api.post('k1')).toMatchObject({ status: 500, code: 'outcome-unknown' })
    await proxy.up()
    const later = await api.until('k1', 409, 'outcome-unknown')
    expect(later.retryAfter).toBeNull()
    expect(api.asked()).toBe(1)
  })
})

/** Matches the message of that number from now on. */
function nth(number: number): () => boolean {
  let seen = 0
  return () => {
    seen += 1
    return seen === number
  }
}
