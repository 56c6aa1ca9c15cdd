// Runs every snippet of the README and the docs.
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'oncekey'
import pg from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/command.ts'
import { describePostgres, freshDatabase } from '../../../test/support/postgres.ts'
import { freshKey, pay } from './client.ts'
import { onExpress, onFetch } from './frameworks.ts'
import { chargesApi } from './hono-postgres.ts'
import { reminders } from './once.ts'
import { counting, housekeeping, settleUnknown } from './operate.ts'
import { byPg, byPostgresJs, leaseMode } from './postgres.ts'
import { prove } from './prove.ts'

function bank() {
  const keys: string[] = []
  return {
    keys,
    async charge(key: string, amount: number) {
      keys.push(key)
      return { id: `mv_${amount}` }
    },
  }
}

const operation = (name: string) => ({ scope: 'acct_1', key: name, fingerprints: [name] as const })

describe('without a server', () => {
  it('once: the second reminder is the first one again', async () => {
    const { store, sendReminder } = await reminders(`${temporaryFolder()}/reminders.db`)
    try {
      expect(await sendReminder('ada', 'inv_1')).toEqual({ queued: true })
      expect(await sendReminder('ada', 'inv_1')).toEqual({ queued: true })
      expect(await store.write((tx) => tx.prepare('select * from outbox').all())).toHaveLength(1)
    } finally {
      await store[Symbol.asyncDispose]()
    }
  })

  it('express: a retry gets the kept answer, as handler and as middleware', async () => {
    const asked = bank()
    const { app, store } = onExpress(asked)
    const server = createServer(app)
    const url = await listening(server)
    for (const path of ['/charges', '/refunds']) {
      const key = randomUUID()
      const post = () => send(`${url}${path}`, key)
      const [first, again] = [await post(), await post()]
      expect([first.status, again.status]).toEqual([201, 201])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect(await again.text()).toBe(await first.text())
    }
    expect(asked.keys).toHaveLength(2)
    await closed(server)
    await store[Symbol.asyncDispose]()
  })

  it('fetch: the same, and a stranger is nobody', async () => {
    const asked = bank()
    const { handler, store } = onFetch(asked, (request) => request.headers.get('authorization') ?? undefined)
    const call = (authorization?: string) =>
      handler(
        new Request('http://shop.test/charges', {
          method: 'POST',
          headers: {
            'idempotency-key': 'k1',
            'content-type': 'application/json',
            ...(authorization ? { authorization } : {}),
          },
          body: '{"amount":1}',
        }),
      )
    expect((await call()).status).toBe(401)
    expect((await call('acct_1')).status).toBe(201)
    expect((await call('acct_1')).headers.get('idempotent-replayed')).toBe('true')
    expect(asked.keys).toHaveLength(1)
    await store[Symbol.asyncDispose]()
  })

  it('client: a definite answer is returned, and giving up keeps the key', async () => {
    const seen: unknown[] = []
    const server = createServer((request, response) => {
      seen.push(request.headers['idempotency-key'])
      if (request.url === '/down') response.destroy()
      else
        response.writeHead(seen.length === 1 ? 503 : 201, { 'content-type': 'application/json' }).end('{"id":"ch_1"}')
    })
    const url = await listening(server)
    expect(await pay(url, { id: 42, amount: 2500 })).toEqual({ id: 'ch_1' })
    expect(await pay(`${url}/down`, { id: 43, amount: 2500 })).toMatchObject({ unknown: true, key: seen.at(-1) })
    expect(new Set(seen).size).toBe(2)
    expect(freshKey()).not.toBe(freshKey())
    await closed(server)
  })

  it('operate: what nobody knows is listed and settled, and everything is told', async () => {
    const { counts, stop } = counting()
    const { store } = onExpress(bank())
    const held = operation('held')
    await once(store, held, async () => Promise.reject(new Error('no idea')), {
      policy: { judge: () => 'hold' },
    }).catch(() => {})
    expect(await settleUnknown(store, async () => ({ id: 'mv_1' }))).toHaveLength(1)
    expect(await once(store, held, async () => 'again')).toMatchObject({ kind: 'replayed', value: { id: 'mv_1' } })
    expect(await housekeeping(store, AbortSignal.timeout(5_000))).toEqual({ removed: 0, abandoned: 0 })
    expect(counts.get('held')).toBe(1)
    expect(counts.get('replayed')).toBe(1)
    stop()
    await store[Symbol.asyncDispose]()
  })

  it('prove: the memory store keeps the contract', async () => {
    const { results, broken } = await prove()
    expect(broken).toEqual([])
    expect(results.filter(({ skipped }) => skipped === undefined).length).toBeGreaterThan(20)
  })
})

describePostgres('on Postgres', () => {
  const database = freshDatabase()
  let pool: pg.Pool
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: database.url, max: 5 })
    pool.on('error', () => {})
    await byPg(pool)
    await pool.query(`create table charge (id bigint generated always as identity, amount integer, bank_id text);
      create table account (id bigint generated always as identity, owner text)`)
  })
  afterAll(() => pool.end())

  it('the first page: one row, and the same bytes again', async () => {
    const { app, store } = chargesApi(pool)
    const post = () =>
      app.request('/charges', {
        method: 'POST',
        headers: { authorization: 'Bearer acct_1', 'idempotency-key': 'k1', 'content-type': 'application/json' },
        body: '{"amount":2500}',
      })
    const [first, again] = [await post(), await post()]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(await again.text()).toBe(await first.text())
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await pool.query('select amount from charge')).rows).toEqual([{ amount: 2500 }])
    await store[Symbol.asyncDispose]()
  })

  it('postgres.js: tx is the library’s own', async () => {
    const sql = postgresJs(database.url, { max: 5, onnotice: () => {} })
    const { store, openAccount } = byPostgresJs(sql)
    const first = await openAccount(operation('open'), 'ada')
    expect(await openAccount(operation('open'), 'ada')).toMatchObject({
      kind: 'replayed',
      value: (first as { value: unknown }).value,
    })
    expect(await sql`select owner from account`).toHaveLength(1)
    await store[Symbol.asyncDispose]()
    await sql.end()
  })

  it('lease mode: the bank is asked under the child key, and the row commits with the answer', async () => {
    const asked = bank()
    const { store, charge } = leaseMode(pool, asked)
    expect(await charge(operation('lease'), 7)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await charge(operation('lease'), 7)).toMatchObject({ kind: 'replayed', value: { id: 'mv_7' } })
    expect(asked.keys).toHaveLength(1)
    expect((await pool.query("select 1 from charge where bank_id = 'mv_7'")).rows).toHaveLength(1)
    await store[Symbol.asyncDispose]()
  })
})

function send(url: string, key: string): Promise<Response> {
  const headers = { authorization: 'acct_1', 'idempotency-key': key, 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: '{"amount":5}' })
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
