import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { isOncekeyError } from '../core/errors.ts'
import { type AttemptReport, GaveUp, send } from './send.ts'

interface Seen {
  readonly key: string
  readonly lines: number
  readonly body: string
  readonly type: string | undefined
  readonly at: number
}
type Answer = (response: ServerResponse, request: IncomingMessage) => void

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server that gives these answers in turn, and the last one ever after. */
async function serving(...answers: Answer[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const lines = request.rawHeaders
      .filter((_, index) => index % 2 === 0)
      .filter((name) => name.toLowerCase() === 'idempotency-key').length
    seen.push({
      key: String(request.headers['idempotency-key']),
      lines,
      body: Buffer.concat(chunks).toString('latin1'),
      type: request.headers['content-type'],
      at: performance.now(),
    })
    ;(answers[Math.min(seen.length, answers.length) - 1] as Answer)(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/charges`, seen }
}

const cut: Answer = (response) => response.destroy()
const cutHalfWay: Answer = (response) => {
  response.writeHead(201, { 'content-length': '100' })
  response.write('{"id":', () => response.destroy())
}
const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body)
const problem = (code: number, name: string, headers: Record<string, string> = {}): Answer =>
  status(code, { 'content-type': 'application/problem+json', ...headers }, JSON.stringify({ status: code, code: name }))
const created = status(201, { 'content-type': 'application/json' }, '{"id":"ch_1"}')
const quick = { base: 1, attempts: 5 }

describe('one operation, several attempts', () => {
  it('carries one key in one header line and the same bytes each time (stripe/stripe-php#637)', async () => {
    const { url, seen } = await serving(cut, status(503), created)
    const answer = await send(url, { key: 'K', json: { amount: 2500 } }, quick)
    expect(answer.status).toBe(201)
    expect(await answer.json()).toEqual({ id: 'ch_1' })
    expect(seen.map(({ key, lines, body }) => ({ key, lines, body }))).toEqual(
      Array(3).fill({ key: 'K', lines: 1, body: '{"amount":2500}' }),
    )
  })

  it('makes a key before the first attempt where the caller gave none', async () => {
    const { url, seen } = await serving(cut, cut, created)
    await send(url, { body: 'x' }, quick)
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1)
    expect(seen[0]?.key).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('takes the caller’s own header in any casing, quoted or bare', async () => {
    const { url, seen } = await serving(cut, created)
    await send(url, { headers: { 'IDEMPOTENCY-key': '"mine"' }, body: 'x' }, quick)
    expect(seen.map(({ key, lines }) => [key, lines])).toEqual([
      ['mine', 1],
      ['mine', 1],
    ])
  })

  it('sends JSON as JSON, unless the caller calls it something else', async () => {
    const { url, seen } = await serving(created)
    await send(url, { json: {} }, quick)
    await send(url, { json: {}, headers: { 'Content-Type': 'application/merge-patch+json' } }, quick)
    expect(seen.map(({ type }) => type)).toEqual(['application/json', 'application/merge-patch+json'])
  })

  it('keeps a form’s boundary', async () => {
    const { url, seen } = await serving(cut, created)
    const form = new FormData()
    form.set('file', new Blob(['bytes']), 'a.txt')
    await send(url, { key: 'K', body: form }, quick)
    expect(seen[0]?.body).toBe(seen[1]?.body)
  })

  it('counts an answer that breaks off half-way as no answer', async () => {
    const { url, seen } = await serving(cutHalfWay, created)
    expect((await send(url, { key: 'K', body: 'x' }, quick)).status).toBe(201)
    expect(seen).toHaveLength(2)
  })

  it('refuses two keys, two bodies, a stream and a key that no header can carry, before anything is sent', async () => {
    const { url, seen } = await serving(created)
    const refused = [
      { key: 'a', headers: { 'idempotency-key': 'b' } },
      { body: 'x', json: {} },
      { body: new ReadableStream() as never },
      { key: 'zürich' },
      { key: 'k'.repeat(256) },
      { key: '' },
    ]
    for (const request of refused) {
      await expect(send(url, request, quick)).rejects.toSatisfy((error) => isOncekeyError(error, 'INVALID_OPTION'))
    }
    expect(seen).toHaveLength(0)
  })
})

describe('which answers are definite', () => {
  it.each([
    ['409 of the business', status(409, { 'content-type': 'application/json' }, '{"error":"sold out"}')],
    ['409 outcome-unknown', problem(409, 'outcome-unknown')],
    ['409 that says nothing', status(409)],
    ['422 key-reused', problem(422, 'key-reused')],
    ['400', status(400)],
    ['402', status(402)],
    ['500', status(500)],
    ['501', status(501)],
  ])('%s is returned at once (Increase/increase-python#495)', async (_, answer) => {
    const { url, seen } = await serving(answer)
    await send(url, { key: 'K', body: 'x' }, quick)
    expect(seen).toHaveLength(1)
  })

  it.each(
    [408, 425, 429, 502, 503, 504]
      .map((code) => [String(code), status(code)] as const)
      .concat([
        ['409 in-progress', problem(409, 'in-progress')],
        ['500 outcome-unknown', problem(500, 'outcome-unknown')],
      ]),
  )('%s is tried again', async (_, answer) => {
    const { url, seen } = await serving(answer, created)
    expect((await send(url, { key: 'K', body: 'x' }, quick)).status).toBe(201)
    expect(seen).toHaveLength(2)
  })

  it('never comes back sooner than Retry-After', async () => {
    const { url, seen } = await serving(problem(409, 'in-progress', { 'retry-after': '1' }), created)
    await send(url, { key: 'K', body: 'x' }, quick)
    expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(990)
  })

  it('waits with jitter from the first wait on', async () => {
    const waits = new Set<number>()
    const { url } = await serving(status(503))
    for (let round = 0; round < 8; round++) {
      const reports: AttemptReport[] = []
      await send(
        url,
        { key: 'K', body: 'x' },
        { attempts: 2, base: 10, onAttempt: (report) => reports.push(report) },
      ).catch(() => {})
      const first = reports[0]?.waitMs ?? 0
      expect(first).toBeGreaterThanOrEqual(5)
      expect(first).toBeLessThanOrEqual(10)
      waits.add(first)
    }
    expect(waits.size).toBeGreaterThan(1)
  })
})

describe('giving up', () => {
  it('throws an error that carries the key and the last answer (mollie/mollie-api-python#299)', async () => {
    const { url, seen } = await serving(status(503))
    const error = await send(url, { key: 'K', body: 'x' }, { ...quick, attempts: 3 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(GaveUp)
    expect(error).toMatchObject({ code: 'GAVE_UP', key: 'K', attempts: 3 })
    expect((error as GaveUp).response?.status).toBe(503)
    expect((error as GaveUp).message).toContain('key K')
    expect(seen).toHaveLength(3)
  })

  it('carries the reason where no answer came', async () => {
    const { url } = await serving(cut)
    const error = await send(url, { key: 'K', body: 'x' }, { ...quick, attempts: 2 }).catch((thrown: unknown) => thrown)
    expect((error as GaveUp).response).toBeUndefined()
    expect((error as GaveUp).cause).toBeInstanceOf(Error)
  })

  it('does not wait past its total time, however long the server asks for', async () => {
    const { url, seen } = await serving(status(503, { 'retry-after': '3600' }))
    await expect(send(url, { key: 'K', body: 'x' }, { total: '2s' })).rejects.toBeInstanceOf(GaveUp)
    expect(seen).toHaveLength(1)
  })

  it('ends one attempt after its timeout and tries again', async () => {
    const { url, seen } = await serving(() => {}, created)
    expect((await send(url, { key: 'K', body: 'x' }, { ...quick, timeout: 100 })).status).toBe(201)
    expect(seen).toHaveLength(2)
  })

  it('ends at the caller’s signal, with the key', async () => {
    const { url } = await serving(status(503, { 'retry-after': '30' }))
    const stop = new AbortController()
    const giving = send(url, { key: 'K', body: 'x' }, { signal: stop.signal })
    setTimeout(() => stop.abort(), 50)
    await expect(giving).rejects.toMatchObject({ key: 'K', attempts: 1 })
  })
})
