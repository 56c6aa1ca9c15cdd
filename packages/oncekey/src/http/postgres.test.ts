// The same rules where the key, the user's writes and the answer commit in one transaction, on a real PostgreSQL.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import express5 from 'express'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { serveExpress } from '../../../../test/support/adapters/express.ts'
import { serveFetch } from '../../../../test/support/adapters/fetch.ts'
import { serveHono } from '../../../../test/support/adapters/hono.ts'
import { startApp } from '../../../../test/support/express-app.ts'
import { describePostgres, freshSchema } from '../../../../test/support/postgres.ts'
import { fromPg, postgres } from '../stores/postgres/index.ts'
import { adapterContract } from '../testing/adapter-contract.ts'
import { grantOf, idempotent } from './express.ts'
import { idempotent as idempotentFetch } from './fetch.ts'

const runner = { describe, it, beforeAll, afterAll }
const scope = () => 'alice'

describePostgres('HTTP over a transaction in PostgreSQL', () => {
  const fresh = freshSchema()
  let pool: pg.Pool
  const open = (options = {}) => postgres(fromPg(pool), { schema: fresh.schema, ...options })

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: fresh.url, max: 10 })
    pool.on('error', () => {})
    await open().admin.migrate()
    await pool.query(`create table ${fresh.schema}.account (id int primary key)`)
    await pool.query(`create table ${fresh.schema}.charge (account int not null, amount int not null,
      constraint account_is_there foreign key (account) references ${fresh.schema}.account deferrable initially deferred)`)
    await pool.query(`insert into ${fresh.schema}.account values (1)`)
  })
  afterAll(() => pool.end())

  const insert = (tx: Pick<pg.PoolClient, 'query'>, account: number) =>
    tx.query(`insert into ${fresh.schema}.charge values (${account}, 1)`)
  const charges = async (): Promise<number> =>
    Number((await pool.query(`select count(*) from ${fresh.schema}.charge`)).rows[0].count)

  for (const [name, serve, reads] of [
    ['fetch', serveFetch, 'bytes'],
    ['Hono', serveHono('middleware'), 'bytes'],
    ['Express 5', serveExpress(express5, 'behind the parser'), 'parsed'],
  ] as const)
    adapterContract({ name, store: () => open(), serve, reads, runner })

  it('not a byte leaves before COMMIT: a constraint that fails there makes a 5xx, never a 201 (mhayk/Overpass#16)', async () => {
    const store = open()
    let commits = true
    await using app = await startApp((built) => {
      built.post('/', idempotent({ store, scope }), async (req, res) => {
        const { tx } = grantOf(req, store)
        expectTypeOf(tx).toExtend<Pick<pg.PoolClient, 'query'>>()
        await insert(tx, commits ? 1 : 404)
        res.writeHead(201, { location: '/charges/1' })
        res.write('made ')
        res.end('it')
      })
    })
    const before = await charges()
    commits = false
    const failed = await app.post('/', { key: 'commit-1' })
    expect(failed.status).toBe(500)
    expect([failed.header('location'), failed.text.includes('made')]).toEqual([undefined, false])
    expect(await charges()).toBe(before)
    commits = true
    expect([(await app.post('/', { key: 'commit-1' })).text, await charges()]).toEqual(['made it', before + 1])
  })

  it('a 5xx that is returned is rolled back with its writes, and the key is free', async () => {
    const store = open()
    let broken = true
    await using app = await startApp((built) => {
      built.post(
        '/',
        idempotent({ store, scope }, async (_req, res, { tx }) => {
          await insert(tx, 1)
          res.status(broken ? 502 : 201).end('x')
        }),
      )
    })
    const before = await charges()
    expect([(await app.post('/', { key: 'five-1' })).status, await charges()]).toEqual([502, before])
    broken = false
    expect([(await app.post('/', { key: 'five-1' })).status, await charges()]).toEqual([201, before + 1])
  })

  it('an error of a 4xx that a handler throws keeps its answer and undoes its writes', async () => {
    const store = open()
    let runs = 0
    await using app = await startApp((built) => {
      built.post(
        '/',
        idempotent({ store, scope }, async (_req, _res, { tx }) => {
          runs++
          await insert(tx, 1)
          throw Object.assign(new Error('declined'), { status: 402 })
        }),
      )
    })
    const before = await charges()
    const first = await app.post('/', { key: 'thrown-1' })
    const replay = await app.post('/', { key: 'thrown-1' })
    expect([first.status, replay.status, replay.header('idempotent-replayed'), runs]).toEqual([402, 402, 'true', 1])
    expect(await charges()).toBe(before)
  })

  it('an answer that outgrows the limit before its end is rolled back, answered 500, and told with the route’s name', async () => {
    const store = open()
    const told: { name?: string }[] = []
    const listen = (message: unknown) => void told.push(message as { name?: string })
    subscribe('oncekey:oversized', listen)
    await using app = await startApp((built) => {
      built.post('/reports', idempotent({ store, scope, policy: { maxBytes: 1_000 } }), async (req, res) => {
        await insert(grantOf(req, store).tx, 1)
        for (let at = 0; at < 20; at++) {
          res.write('y'.repeat(100))
          await new Promise((resolve) => setImmediate(resolve))
        }
        res.end()
      })
    })
    const before = await charges()
    const answer = await app.post('/reports', { key: 'large-1' })
    unsubscribe('oncekey:oversized', listen)
    expect([answer.status, answer.json.code]).toEqual([500, 'answer-too-large'])
    expect(told.map(({ name }) => name)).toEqual(['POST /reports'])
    expect(await charges()).toBe(before)
  })

  it('a handler that never ends is undone after its work limit, and its retry runs', async () => {
    const store = open()
    let runs = 0
    await using app = await startApp((built) => {
      built.post('/', idempotent({ store, scope, policy: { work: '150ms' } }), async (req, res) => {
        await insert(grantOf(req, store).tx, 1)
        if (++runs > 1) res.status(201).end('made')
        else setTimeout(() => res.status(201).json({ late: true }), 400)
      })
    })
    const before = await charges()
    const first = await app.post('/', { key: 'never-1' })
    expect([first.status, first.json.code, first.header('retry-after')]).toEqual([503, 'try-again', '1'])
    expect(await charges()).toBe(before)
    // Its late answer goes nowhere, and harms nobody.
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect([(await app.post('/', { key: 'never-1' })).text, await charges()]).toEqual(['made', before + 1])
  })

  it('the grant of a fetch handler has the user’s own transaction, without a cast', async () => {
    const handler = idempotentFetch({ store: open(), scope }, async (_request, { tx }) => {
      expectTypeOf(tx).toExtend<Pick<pg.PoolClient, 'query'>>()
      await insert(tx, 1)
      return new Response('made', { status: 201 })
    })
    const request = () =>
      new Request('http://x/charges', { method: 'POST', body: '{}', headers: { 'idempotency-key': 'fetch-1' } })
    const before = await charges()
    expect([(await handler(request())).status, (await handler(request())).status]).toEqual([201, 201])
    expect(await charges()).toBe(before + 1)
  })
})
