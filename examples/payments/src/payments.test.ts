// The payments API as its users meet it: real processes, both frameworks, every store that needs no server, and what it refuses to start with.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { newKey } from 'oncekey/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { node, root, temporaryFolder } from '../../../test/support/command.ts'
import { readConfig, Unmeetable } from './config.ts'

const SERVER = ['--import', 'tsx', 'examples/payments/src/server.ts']

describe('what it is told', () => {
  it('has the defaults of its README, and flags win over environment', () => {
    expect(readConfig([], {})).toEqual({
      port: 8000,
      store: 'sqlite:payments.db',
      kind: 'sqlite',
      mode: 'transaction',
      lease: '30s',
      retain: '24h',
      framework: 'hono',
      bankUrl: undefined,
    })
    expect(readConfig(['--mode', 'lease'], { MODE: 'transaction', PORT: '0' })).toMatchObject({
      mode: 'lease',
      port: 0,
    })
    expect(readConfig([], { STORE: 'memory:' }).mode).toBe('lease')
  })

  it.each([
    ['a store that nobody has', { STORE: 'mongo:x' }],
    ['a mode that nobody has', { MODE: 'hope' }],
    ['a framework that nobody has', { FRAMEWORK: 'rails' }],
    ['a port that is none', { PORT: '80000' }],
    ['a duration that is none', { LEASE: 'soon' }],
  ])('refuses %s and says what there is', (_, env) => {
    expect(() => readConfig([], env)).toThrow(Unmeetable)
  })

  it('exits with 2 and says why, where the store cannot do the mode', async () => {
    const { code, output } = await node([...SERVER, '--store', 'memory:', '--mode', 'transaction'])
    expect(code).toBe(2)
    expect(output).toContain('memory has no transaction')
  })
})

const SETTINGS = [
  { STORE: 'sqlite', MODE: 'transaction', FRAMEWORK: 'hono' },
  { STORE: 'sqlite', MODE: 'transaction', FRAMEWORK: 'express' },
  { STORE: 'sqlite', MODE: 'lease', FRAMEWORK: 'hono' },
  { STORE: 'memory', MODE: 'lease', FRAMEWORK: 'express' },
]

describe.each(SETTINGS)('on $STORE in $MODE mode by $FRAMEWORK', ({ STORE, MODE, FRAMEWORK }) => {
  let url: string
  let end: () => Promise<void>
  beforeAll(async () => {
    const store = STORE === 'memory' ? 'memory:' : `sqlite:${temporaryFolder((remove) => afterAll(remove))}/payments.db`
    const env = { ...process.env, PORT: '0', STORE: store, MODE, FRAMEWORK }
    const child = spawn(process.execPath, SERVER, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0] as string
    end = async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  })
  afterAll(() => end())

  const card = { amount: 2500, card: 'tok_visa' }
  async function call(
    method: string,
    path: string,
    { key, body, secret = 'sk_demo_a' }: { key?: string; body?: unknown; secret?: string } = {},
  ) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const replayed = response.headers.get('idempotent-replayed') === 'true'
    const json = response.headers.get('content-type')?.includes('json') ? JSON.parse(bytes.toString()) : undefined
    return { status: response.status, headers: response.headers, bytes, replayed, json }
  }
  const charged = async () => ((await call('GET', '/charges')).json as unknown[]).length

  it('charges once, with a Location, and replays the same bytes', async () => {
    const key = newKey()
    const before = await charged()
    const [first, again] = [
      await call('POST', '/charges', { key, body: card }),
      await call('POST', '/charges', { key, body: card }),
    ]
    expect(first.status).toBe(201)
    expect(first.json).toMatchObject({
      id: expect.stringMatching(/^ch_\d+$/),
      amount: 2500,
      currency: 'usd',
      status: 'succeeded',
    })
    expect(first.headers.get('location')).toBe(`/charges/${first.json.id}`)
    expect(again).toMatchObject({ status: 201, replayed: true, bytes: first.bytes })
    expect(again.headers.get('location')).toBe(`/charges/${first.json.id}`)
    expect(await charged()).toBe(before + 1)
  })

  it('keeps a declined card', async () => {
    const key = newKey()
    const body = { ...card, card: 'tok_declined' }
    expect((await call('POST', '/charges', { key, body })).status).toBe(402)
    expect(await call('POST', '/charges', { key, body })).toMatchObject({ status: 402, replayed: true })
  })

  it('does not use the key of a request that it refuses before the work', async () => {
    const key = newKey()
    expect((await call('POST', '/charges', { key, body: { amount: -1, card: 'tok_visa' } })).status).toBe(400)
    expect((await call('POST', '/charges', { key, body: card, secret: 'sk_live_nobody' })).status).toBe(401)
    expect(await call('POST', '/charges', { key, body: card })).toMatchObject({ status: 201, replayed: false })
    expect((await call('POST', '/charges', { body: card })).json).toMatchObject({ code: 'missing-key' })
  })

  it('recovers from an answer that was lost, from one that failed, and moves money once', async () => {
    for (const name of ['tok_lost', 'tok_error', 'tok_slow']) {
      const key = newKey()
      const before = await charged()
      const body = { ...card, card: name }
      await call('POST', '/charges', { key, body }).catch(() => undefined)
      expect((await call('POST', '/charges', { key, body })).status).toBe(201)
      expect(await charged()).toBe(before + 1)
    }
    if (MODE === 'lease') {
      const { asked, moved } = (await call('GET', '/bank/charges')).json
      expect(asked).toBeGreaterThan(moved)
    }
  })

  it('patches, captures with 204 and hands out a binary receipt, each once and byte for byte', async () => {
    const { id } = (await call('POST', '/charges', { key: newKey(), body: card })).json
    const steps = [
      { method: 'PATCH', path: `/charges/${id}`, body: { description: 'two tickets' }, status: 200 },
      { method: 'POST', path: `/charges/${id}/capture`, status: 204 },
      { method: 'POST', path: `/charges/${id}/receipt`, status: 200 },
    ]
    for (const { method, path, body, status } of steps) {
      const key = newKey()
      const first = await call(method, path, { key, ...(body ? { body } : {}) })
      expect(first.status).toBe(status)
      expect(await call(method, path, { key, ...(body ? { body } : {}) })).toMatchObject({
        status,
        replayed: true,
        bytes: first.bytes,
      })
    }
    expect((await call('GET', `/charges/${id}`)).json).toMatchObject({ description: 'two tickets', status: 'captured' })
    expect((await call('GET', `/charges/${id}/receipt`)).bytes.subarray(0, 2).toString()).toBe('BM')
    expect((await call('GET', `/charges/${id}`, { secret: 'sk_demo_b' })).status).toBe(404)
  })
})
