// Every way in which a Node handler can end its response, and every way in which the end can be taken from it.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { Request, RequestHandler, Response } from 'express'
import { describe, expect, it } from 'vitest'
import { EXPRESS, startApp } from '../../../../test/support/express-app.ts'
import { downstreamDedupes, downstreamDoesNot } from '../core/policy.ts'
import { memory } from '../stores/memory.ts'
import { openWire } from '../testing/adapter-contract/wire.ts'
import { idempotent } from './express.ts'

const FILE = fileURLToPath(import.meta.url)
const scope = () => 'alice'

type Ending = (req: Request, res: Response, next: (error?: unknown) => void) => unknown
const ENDINGS: Record<string, { readonly end: Ending; readonly status?: number }> = {
  'res.end with text': { end: (_, res) => res.end('x') },
  'writeHead, write and end': {
    end(_, res) {
      res.writeHead(201, 'Made', { 'content-type': 'text/plain', 'x-two': ['a', 'b'] })
      res.write('one ')
      res.write(Buffer.from('two'))
      res.end(' three')
    },
    status: 201,
  },
  'writeHead with a flat list': { end: (_, res) => res.writeHead(202, ['etag', '"1"']).end(), status: 202 },
  'res.json': { end: (_, res) => res.status(201).json({ made: true }), status: 201 },
  'res.send of a buffer': { end: (_, res) => res.send(Buffer.from([0, 255, 10])) },
  'res.sendFile': { end: (_, res) => res.sendFile(FILE) },
  'a pipe from a file': { end: (_, res) => createReadStream(FILE).pipe(res) },
  'pipeline from many chunks': {
    end: (_, res) => pipeline(Readable.from(Array.from({ length: 500 }, (_, at) => `${at} `.repeat(50))), res),
  },
  'res.redirect': { end: (_, res) => res.redirect(303, '/charges/1'), status: 303 },
  '204': { end: (_, res) => res.status(204).end(), status: 204 },
  'flushHeaders and a late end': {
    end(_, res) {
      res.status(200).flushHeaders()
      setTimeout(() => res.end('late'), 20)
    },
  },
  'an end outside of its async context': {
    end: (_, res) => escapes(() => res.status(201).end('escaped')),
    status: 201,
  },
  'next(error) that the app makes a 4xx of': {
    end: (_req, _res, next) => next(Object.assign(new Error('declined'), { status: 402 })),
    status: 402,
  },
}

// Made before any request: what runs here has the context of none of them, as with callbacks of some connection pools.
const queue: (() => void)[] = []
setInterval(() => queue.shift()?.(), 5).unref()
function escapes(body: () => void): void {
  queue.push(body)
}

for (const [name, express] of Object.entries(EXPRESS))
  describe(`a response of ${name}, held back`, () => {
    for (const [way, { end, status = 200 }] of Object.entries(ENDINGS))
      it(`is kept and comes back the same after ${way} (KanishJebaMathewM/Truxify#4622, VilledeMontreal/express-idempotency#32)`, async () => {
        let runs = 0
        await using app = await startApp((built) => {
          built.post('/', idempotent({ store: memory(downstreamDedupes({ for: '1h' })), scope }), (req, res, next) => {
            runs++
            return end(req, res, next) as never
          })
          built.use(errors)
        }, express)
        const first = await app.post('/')
        const replay = await app.post('/')
        expect([first.status, replay.status, runs]).toEqual([status, status, 1])
        expect(replay.body.equals(first.body)).toBe(true)
        expect(replay.header('content-type')).toBe(first.header('content-type'))
        expect(replay.header('idempotent-replayed')).toBe('true')
      })
  })

const errors = (error: { status?: number; message: string }, _req: Request, res: Response, _next: unknown): void => {
  res
    .status(error.status ?? 500)
    .type('text/plain')
    .send(error.message)
}

describe('a handler that fails', () => {
  const failing: Record<string, RequestHandler> = {
    'throws at once': () => {
      throw new Error('at once')
    },
    'rejects later': async () => {
      await Promise.resolve()
      throw new Error('later')
    },
    'calls next(error)': (_req, _res, next) => next(new Error('next')),
    'destroys its response': (_req, res) => void res.destroy(new Error('destroyed')),
    'fails after its first write': (_req, res): never => {
      res.write('half of it')
      throw new Error('half way')
    },
    'pipes from what breaks': async (_req, res) => {
      await pipeline(
        Readable.from(
          (async function* () {
            yield 'half of it'
            throw new Error('broken source')
          })(),
        ),
        res,
      ).catch(() => {})
    },
  }
  for (const [how, handler] of Object.entries(failing)) {
    it(`that ${how} is answered 500 in one piece, and its retry may run (pathosDev/actor-ts#984)`, async () => {
      let runs = 0
      await using app = await startApp((built) => {
        built.post('/', idempotent({ store: memory(downstreamDedupes({ for: '1h' })), scope }), (req, res, next) => {
          if (++runs === 1) return handler(req, res, next)
          return void res.status(201).end('made')
        })
      })
      const first = await app.post('/')
      expect(first.status).toBe(500)
      expect(first.text).not.toContain('half of it')
      expect((await app.post('/')).status).toBe(201)
      expect((await app.post('/')).header('idempotent-replayed')).toBe('true')
      expect(runs).toBe(2)
    })
  }

  it('where nothing downstream dedupes leaves an unknown outcome, and says so to its own caller', async () => {
    let runs = 0
    await using app = await startApp((built) => {
      built.post('/', idempotent({ store: memory(downstreamDoesNot), scope }), (_req, res) => {
        runs++
        res.status(502).end('the bank did not answer')
      })
    })
    const first = await app.post('/')
    expect([first.status, first.json.code]).toEqual([500, 'outcome-unknown'])
    const repeat = await app.post('/')
    expect([repeat.status, repeat.json.code, repeat.header('retry-after')]).toEqual([409, 'outcome-unknown', undefined])
    expect(runs).toBe(1)
  })
})

describe('a client that hangs up', () => {
  const slow: Record<string, RequestHandler> = {
    'res.end': (_req, res) => void setTimeout(() => res.status(201).end('made'), 80),
    'a pipe': (_req, res) => {
      setTimeout(() => Readable.from(['ma', 'de']).pipe(res.status(201)), 80)
    },
    'a pipe under way': (_req, res) => {
      const source = new Readable({ read() {} })
      source.pipe(res.status(201))
      source.push('ma')
      setTimeout(() => {
        source.push('de')
        source.push(null)
      }, 80)
    },
    'what stops when its connection closes': (req, res) => {
      const timer = setTimeout(() => res.status(201).end('made'), 80)
      for (const one of [res, res.socket, req.socket]) one?.on('close', () => clearTimeout(timer))
    },
    'res.sendFile': (_req, res) => void setTimeout(() => res.status(201).sendFile(FILE), 80),
    pipeline: async (_req, res) => {
      await new Promise((resolve) => setTimeout(resolve, 80))
      await pipeline(Readable.from(['ma', 'de']), res.status(201))
    },
  }
  for (const [how, handler] of Object.entries(slow)) {
    it(`does not stop ${how}: the whole answer is kept for its retry (middleapi/orpc#1738, sveltejs/kit#16793)`, async () => {
      let runs = 0
      await using app = await startApp((built) => {
        built.post('/', idempotent({ store: memory(downstreamDoesNot), scope }), (req, res, next) => {
          runs++
          return handler(req, res, next)
        })
      })
      const wire = await openWire(app.port)
      const lost = wire
        .send({
          path: '/',
          body: '{}',
          headers: [
            ['content-type', 'application/json'],
            ['idempotency-key', 'k1'],
          ],
        })
        .catch(() => 'lost')
      await expect.poll(() => runs).toBe(1)
      wire.hangUp()
      expect(await lost).toBe('lost')
      const retry = await app.post('/', { headers: [['prefer', 'wait=5']] })
      expect([retry.status, retry.header('idempotent-replayed'), runs]).toEqual([201, 'true', 1])
      expect(how === 'res.sendFile' ? retry.body.length > 5_000 : retry.text === 'made').toBe(true)
    })
  }
})
