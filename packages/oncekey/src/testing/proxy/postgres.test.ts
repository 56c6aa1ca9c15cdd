/** The proxy in front of a real PostgreSQL: faults strike between protocol messages, not between packets. */
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describePostgres, freshSchema, onPostgres } from '../../../../../test/support/postgres.ts'
import { type FaultProxy, faultProxy } from '../proxy.ts'

describePostgres('the fault proxy in front of PostgreSQL', () => {
  const fresh = freshSchema()
  let proxy: FaultProxy
  let client: pg.Client
  let died: Promise<Error>

  beforeEach(async () => {
    await onPostgres(`drop table if exists ${fresh.schema}.t; create table ${fresh.schema}.t (n int)`)
    proxy = await faultProxy({ to: fresh.url, latencyMs: 5 })
    client = new pg.Client({ connectionString: proxy.url, pipeline: true })
    // More than one comes when a connection dies: the socket's, and its end.
    died = new Promise((resolve) => client.on('error', resolve))
    await client.connect()
  })
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]()
    await client.end()
  })

  it('COMMIT cut before it is forwarded is not applied, though its flight began before it', async () => {
    proxy.next('commit', { kind: 'cut', at: 'request' })
    expect(await work()).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await rows()).toBe(0)
  })

  it('COMMIT cut after ReadyForQuery is applied, and nobody was told', async () => {
    const armed = proxy.next('commit', { kind: 'cut', at: 'answer' })
    expect(await work()).toEqual(['rejected', 'rejected', 'rejected'])
    await armed.struck
    await died
    expect(await rows()).toBe(1)
  })

  it('COMMIT as an extended query waits for its own ReadyForQuery', async () => {
    const armed = proxy.next('commit', { kind: 'cut', at: 'answer' })
    await Promise.allSettled([
      client.query('begin'),
      client.query(`insert into ${fresh.schema}.t values ($1)`, [1]),
      client.query({ text: 'commit', queryMode: 'extended' } as pg.QueryConfig),
    ])
    await armed.struck
    expect(await rows()).toBe(1)
  })

  it('drops the answer to one message of a pipeline, and those before it still come', async () => {
    const armed = proxy.next('select 2', { kind: 'drop' })
    const [first, second] = [client.query('select 1 as n'), client.query('select 2 as n')]
    expect((await first).rows).toEqual([{ n: 1 }])
    await armed.struck
    // The protocol has no numbers: what comes next is taken for the answer that is missing.
    const third = client.query('select 3 as n')
    expect((await second).rows).toEqual([{ n: 3 }])
    third.catch(() => {})
  })

  it('counts what travels together as one flight, and leaves the handshake out', async () => {
    expect(proxy.flights).toEqual({ sent: 0, answered: 0 })
    await work()
    expect(proxy.flights).toEqual({ sent: 1, answered: 1 })
    await client.query('begin')
    client.query('rollback').catch(() => {})
    expect(proxy.flights.answered).toBe(2)
  })

  async function work(): Promise<string[]> {
    const all = await Promise.allSettled([
      client.query('begin'),
      client.query(`insert into ${fresh.schema}.t values ($1)`, [1]),
      client.query('commit'),
    ])
    return all.map(({ status }) => status)
  }

  async function rows(): Promise<number> {
    return Number((await onPostgres(`select count(*) from ${fresh.schema}.t`)).rows[0].count)
  }
})
