// What is Hono's own: its body cache, its errors, and the middleware that people mount around us.
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { HTTPException } from 'hono/http-exception'
import { prettyJSON } from 'hono/pretty-json'
import { timeout } from 'hono/timeout'
import { validator } from 'hono/validator'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { downstreamDedupes, downstreamDoesNot } from '../core/policy.ts'
import type { Leased } from '../core/store.ts'
import { memory } from '../stores/memory.ts'
import { idempotent } from './hono.ts'

const scope = () => 'alice'
const protect = (options = {}) => idempotent({ store: memory(downstreamDoesNot), scope, ...options })

function post(
  app: Hono,
  { key = 'k1', body = '{"amount":1}' as BodyLike, headers = {}, path = '/' } = {},
): Promise<Response> {
  return Promise.resolve(
    app.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': key, ...headers },
    }),
  )
}
type BodyLike = string | Uint8Array<ArrayBuffer>

describe('the body', () => {
  const readers: Record<string, (c: import('hono').Context) => Promise<unknown>> = {
    'c.req.json()': (c) => c.req.json(),
    'c.req.text()': async (c) => JSON.parse(await c.req.text()),
    'c.req.arrayBuffer()': async (c) => JSON.parse(new TextDecoder().decode(await c.req.arrayBuffer())),
    'c.req.raw.json()': (c) => c.req.raw.json(),
    'c.req.raw.clone().json()': (c) => c.req.raw.clone().json(),
  }
  for (const [how, read] of Object.entries(readers))
    it(`is there for ${how} behind us (sindresorhus/ky#230)`, async () => {
      const app = new Hono()
      app.post('/', protect(), async (c) => c.json(await read(c)))
      expect(await (await post(app)).json()).toEqual({ amount: 1 })
      expect((await post(app, { body: '{"amount":2}' })).status).toBe(422)
    })

  it('that a validator has read before us is compared all the same, and a refusal of it does not use the key', async () => {
    let runs = 0
    const app = new Hono()
    const amount = validator('json', (value, c) => (value.amount > 0 ? value : c.json({ error: 'amount' }, 400)))
    app.post('/', amount, protect(), (c) => c.json({ run: ++runs }))
    expect((await post(app, { body: '{"amount":-1}' })).status).toBe(400)
    expect((await post(app)).status).toBe(200)
    expect((await post(app, { body: '{"amount":2}' })).status).toBe(422)
    expect((await post(app)).headers.get('idempotent-replayed')).toBe('true')
    expect(runs).toBe(1)
  })

  it('that was read past Hono is refused loudly, before the handler', async () => {
    let runs = 0
    const app = new Hono()
    app.use(async (c, next) => {
      await c.req.raw.text()
      await next()
    })
    app.post('/', protect(), (c) => c.text(String(++runs)))
    app.onError((error, c) => c.text(error.message, 500))
    const answer = await post(app)
    expect(answer.status).toBe(500)
    expect(await answer.text()).toContain('BODY_UNREADABLE')
    expect(runs).toBe(0)
  })
})

describe('what the handler throws', () => {
  it('as an HTTPException of a 4xx is kept as the client saw it (novuhq/novu#12451)', async () => {
    let runs = 0
    const app = new Hono()
    app.post('/', protect(), () => {
      runs++
      throw new HTTPException(402, { message: 'declined' })
    })
    app.onError((error, c) => c.json({ mapped: error.message }, error instanceof HTTPException ? error.status : 500))
    const first = await post(app)
    const replay = await post(app)
    expect([first.status, replay.status, runs]).toEqual([402, 402, 1])
    expect(await replay.text()).toBe(await first.text())
  })

  it('otherwise counts as a failure, and the app’s own page goes out', async () => {
    let runs = 0
    const app = new Hono()
    app.post('/', idempotent({ store: memory(downstreamDedupes({ for: '1h' })), scope }), (c) => {
      if (++runs === 1) throw new Error('broken')
      return c.text('made', 201)
    })
    app.onError((_error, c) => c.text('our page', 500))
    const first = await post(app)
    expect([first.status, await first.text()]).toEqual([500, 'our page'])
    expect((await post(app)).status).toBe(201)
  })
})

it('a refusal after the work carries nothing of the work’s own answer', async () => {
  const app = new Hono()
  app.use(async (c, next) => {
    c.header('x-outer', 'yes')
    await next()
  })
  app.post('/', protect(), (c) => c.text('the bank did not answer', 502, { 'x-inner': 'secret' }))
  const answer = await post(app)
  expect([answer.status, answer.headers.get('x-outer'), answer.headers.get('x-inner')]).toEqual([500, 'yes', null])
})

describe('middleware around us', () => {
  it('that times out answers, and the work’s own answer is kept', async () => {
    let runs = 0
    const app = new Hono()
    app.use(timeout(30))
    app.post('/', protect(), async (c) => {
      runs++
      await new Promise((resolve) => setTimeout(resolve, 100))
      return c.json({ made: true }, 201, { location: '/charges/1' })
    })
    expect((await post(app)).status).toBe(504)
    await expect.poll(async () => (await post(app)).status).toBe(201)
    const replay = await post(app)
    expect([await replay.json(), replay.headers.get('location'), runs]).toEqual([{ made: true }, '/charges/1', 1])
  })

  it('that compresses has its way with the first answer and the replay, for each request’s own Accept-Encoding', async () => {
    const app = new Hono()
    app.use(compress())
    app.post('/', protect(), (c) => c.json({ long: 'x'.repeat(5_000) }))
    const gzip = { headers: { 'accept-encoding': 'gzip' } }
    const [first, replay, plain] = [await post(app, gzip), await post(app, gzip), await post(app)]
    expect([first, replay, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', 'gzip', null])
    expect(((await plain.json()) as { long: string }).long.length).toBe(5_000)
    const unzipped = replay.body?.pipeThrough(new DecompressionStream('gzip'))
    expect(((await new Response(unzipped).json()) as { long: string }).long.length).toBe(5_000)
  })

  it('that compresses inside of us does not trouble a later request that takes no gzip', async () => {
    const app = new Hono()
    app.post('/', protect(), compress(), (c) => c.json({ long: 'x'.repeat(5_000) }))
    const first = await post(app, { headers: { 'accept-encoding': 'gzip' } })
    expect(first.headers.get('content-encoding')).toBe('gzip')
    const plain = await post(app, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(((await plain.json()) as { long: string }).long.length).toBe(5_000)
  })

  it('that prints prettily changes the length of a replay, and nothing else (ikyriak/IdempotentAPI#21)', async () => {
    const app = new Hono()
    app.use(prettyJSON())
    app.post('/', protect(), (c) => c.json({ a: 'ü' }))
    // Another target is another request; the query belongs to it.
    expect(await (await post(app, { path: '/?pretty' })).text()).toBe('{\n  "a": "ü"\n}')
    const replay = await post(app, { path: '/?pretty' })
    expect([replay.headers.get('idempotent-replayed'), await replay.text()]).toEqual(['true', '{\n  "a": "ü"\n}'])
  })

  it('sets headers before and after next, on the first answer, on replays and on refusals', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('x-before', 'yes')
      await next()
      c.header('x-after', 'yes')
    })
    app.post('/', protect(), (c) => c.text('x'))
    for (const answer of [await post(app), await post(app), await post(app, { body: '{"amount":2}' })])
      expect([answer.headers.get('x-before'), answer.headers.get('x-after')]).toEqual(['yes', 'yes'])
  })
})

it('the grant is typed by its store, in middleware and around a handler', async () => {
  const store = memory(downstreamDoesNot)
  const seen: string[] = []
  const app = new Hono()
  app.post('/middleware', idempotent({ store, scope }), (c) => {
    expectTypeOf(c.var.oncekey).toEqualTypeOf<Leased>()
    seen.push(typeof c.get('oncekey').fence)
    return c.text('x')
  })
  app.post(
    '/handler/:id',
    idempotent({ store, scope }, (c, grant) => {
      expectTypeOf(grant).toEqualTypeOf<Leased>()
      seen.push(typeof grant.fence)
      return c.text(c.req.param('id') ?? '')
    }),
  )
  await post(app, { path: '/middleware', key: 'a' })
  expect(await (await post(app, { path: '/handler/7', key: 'b' })).text()).toBe('7')
  expect(seen).toEqual(['bigint', 'bigint'])
})

it('mounting twice is an error that names it', async () => {
  const app = new Hono()
  const store = memory(downstreamDedupes({ for: '1h' }))
  app.use(protect({ store }))
  app.post('/', protect({ store }), (c) => c.text('x'))
  app.onError((error, c) => c.text(error.message, 500))
  const answer = await post(app)
  expect(await answer.text()).toContain('MOUNTED_TWICE')
})
