// What is fetch's own: bodies that stream out of a Response, joined header lines, and requests that are run again.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { OncekeyError } from '../core/errors.ts'
import { downstreamDedupes, downstreamDoesNot } from '../core/policy.ts'
import type { Leased, Store } from '../core/store.ts'
import { memory } from '../stores/memory.ts'
import { idempotent, isProtected } from './fetch.ts'

const scope = () => 'alice'

function request(key = 'k1', body = '{"amount":1}'): Request {
  return new Request('http://api.example/charges?x=1', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })
}

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { code: string }).code
}

function streamOf(chunks: readonly [text: string, afterMs: number][], breaks = false): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      for (const [text, afterMs] of chunks) {
        await new Promise((resolve) => setTimeout(resolve, afterMs))
        controller.enqueue(new TextEncoder().encode(text))
      }
      if (breaks) controller.error(new Error('the source broke'))
      else controller.close()
    },
  })
}

describe('a body that streams', () => {
  it('and ends soon is kept, declared or not', async () => {
    let runs = 0
    const handler = idempotent({ store: memory(downstreamDoesNot), scope }, () => {
      runs++
      return new Response(
        streamOf([
          ['one ', 0],
          ['two', 5],
        ]),
      )
    })
    expect(await (await handler(request())).text()).toBe('one two')
    expect(await (await handler(request())).text()).toBe('one two')
    expect(runs).toBe(1)
  })

  it('and goes on is not held back to its end, and never made again (pathosDev/actor-ts#1308)', async () => {
    let runs = 0
    let ended = false
    function flush(): void {
      ended = true
    }
    const handler = idempotent({ store: memory(downstreamDoesNot), scope }, () => {
      runs++
      const body = streamOf([
        ['one ', 0],
        ['two ', 300],
        ['three', 300],
      ])
      return new Response(body.pipeThrough(new TransformStream({ flush })), {
        headers: { location: '/reports/1' },
      })
    })
    const first = await handler(request())
    expect(ended).toBe(false)
    expect(await first.text()).toBe('one two three')
    const repeat = await handler(request())
    expect([repeat.status, await codeOf(repeat), repeat.headers.get('location')]).toEqual([
      409,
      'replay-unavailable',
      '/reports/1',
    ])
    expect(runs).toBe(1)
  })

  it('and breaks is neither kept as a success nor made again', async () => {
    let runs = 0
    const handler = idempotent({ store: memory(downstreamDoesNot), scope }, () => {
      runs++
      return new Response(streamOf([['half', 0]], true))
    })
    const first = await handler(request())
    await expect(first.text()).rejects.toThrow('the source broke')
    expect((await handler(request())).status).toBe(409)
    expect(runs).toBe(1)
  })
})

it('a quoted key with a comma is refused: it may be two lines that were joined', async () => {
  const handler = idempotent({ store: memory(downstreamDoesNot), scope }, () => new Response('x'))
  const answer = await handler(request('"a, b"'))
  expect([answer.status, ((await answer.json()) as { reason: string }).reason]).toEqual([400, 'multiple-lines'])
})

it('the grant is typed by its store, other arguments are handed on, and a stand-in says so where nothing is protected', async () => {
  const seen: unknown[] = []
  const handler = idempotent(
    { store: memory(downstreamDoesNot), scope, required: false },
    async (got, grant, context: { params: { id: string } }) => {
      expectTypeOf(grant).toEqualTypeOf<Leased>()
      seen.push(isProtected(grant), context.params.id, await got.json(), grant.signal.aborted)
      if (!isProtected(grant)) expect(() => grant.fence).toThrow(/NOT_PROTECTED/)
      return new Response('x')
    },
  )
  await handler(request(), { params: { id: '7' } })
  await handler(request('k2', '{}'), { params: { id: '8' } })
  const bare = new Request('http://api.example/charges', { method: 'POST', body: '{"a":1}' })
  await handler(bare, { params: { id: '9' } })
  expect(seen).toEqual([true, '7', { amount: 1 }, false, true, '8', {}, false, false, '9', { a: 1 }, false])
})

it('what the work throws is thrown again, once its attempt has ended', async () => {
  let runs = 0
  const handler = idempotent({ store: memory(downstreamDedupes({ for: '1h' })), scope }, () => {
    if (++runs === 1) throw new Error('broken')
    return new Response('made', { status: 201 })
  })
  await expect(handler(request())).rejects.toThrow('broken')
  expect((await handler(request())).status).toBe(201)
})

it('an error of ours that the work throws is not taken for one about this operation', async () => {
  const foreign = new OncekeyError('STORE_UNAVAILABLE', { what: 'x', where: 'another store', why: 'y', fix: 'z' })
  const handler = idempotent({ store: memory(downstreamDoesNot), scope }, () => {
    throw foreign
  })
  await expect(handler(request())).rejects.toBe(foreign)
})

describe('a store that does not answer', () => {
  it('is 503 with Retry-After, and the handler does not run (langfuse/langfuse#15463)', async () => {
    let runs = 0
    const down = new OncekeyError('STORE_UNAVAILABLE', { what: 'down', where: 'store', why: 'y', fix: 'z' })
    const store: Store<Leased> = { ...memory(downstreamDoesNot), attempt: () => Promise.reject(down) }
    const handler = idempotent({ store, scope }, () => new Response(String(++runs)))
    const answers = await Promise.all(Array.from({ length: 5 }, () => handler(request())))
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(await codeOf(answer)).toBe('store-unavailable')
    }
    expect(runs).toBe(0)
  })
})

it('no event, problem or header carries a raw key or body', async () => {
  const told: unknown[] = []
  const listen = (message: unknown) => void told.push(message)
  for (const event of ['claimed', 'kept', 'replayed', 'mismatch']) subscribe(`oncekey:${event}`, listen)
  const handler = idempotent({ store: memory(downstreamDoesNot), scope }, () => new Response('x'))
  await handler(request('secret-key', '{"card":"4242"}'))
  await handler(request('secret-key', '{"card":"4242"}'))
  const refused = await handler(request('secret-key', '{"card":"4343"}'))
  for (const event of ['claimed', 'kept', 'replayed', 'mismatch']) unsubscribe(`oncekey:${event}`, listen)
  expect(told.length).toBeGreaterThan(3)
  const everything = `${JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? String(value) : value))}${await refused.text()}`
  expect(everything).not.toMatch(/secret-key|4242|4343/)
})
