// What surrounds a held response: outer layers with answers and headers of their own, limits, streams and trailers.
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { startApp } from '../../../../test/support/express-app.ts'
import { downstreamDoesNot } from '../core/policy.ts'
import { memory } from '../stores/memory.ts'
import { idempotent } from './express.ts'

const scope = () => 'alice'

describe('an outer layer', () => {
  it('may send a timeout page, and does not end the work: its answer is kept for the retry', async () => {
    let runs = 0
    await using app = await startApp((built) => {
      built.use((_req, res, next) => {
        const timer = setTimeout(() => res.status(503).set('content-type', 'text/plain').end('too slow'), 40)
        res.on('finish', () => clearTimeout(timer))
        next()
      })
      built.post('/', idempotent({ store: memory(downstreamDoesNot), scope }), async (_req, res) => {
        runs++
        await new Promise((resolve) => setTimeout(resolve, 120))
        res.status(201).set('location', '/charges/1').json({ made: true })
      })
    })
    const first = await app.post('/')
    expect([first.status, first.text]).toEqual([503, 'too slow'])
    expect(first.header('location')).toBeUndefined()
    // The outer layer's page for this one, too, unless the first has ended; then the kept answer.
    await expect.poll(async () => (await app.post('/')).status).toBe(201)
    const replay = await app.post('/')
    expect([replay.json, replay.header('location'), runs]).toEqual([{ made: true }, '/charges/1', 1])
  })

  it('sets headers that win over kept ones', async () => {
    let request = 0
    await using app = await startApp((built) => {
      built.use((_req, res, next) => {
        res.set('cache-control', `max-age=${++request}`)
        next()
      })
      built.post('/', idempotent({ store: memory(downstreamDoesNot), scope }), (_req, res) => void res.end('x'))
    })
    expect((await app.post('/')).header('cache-control')).toBe('max-age=1')
    expect((await app.post('/')).header('cache-control')).toBe('max-age=2')
  })

  it('that patches writeHead and end sees the answer, the first and the replay', async () => {
    const seen: string[] = []
    await using app = await startApp((built) => {
      built.use((_req, res, next) => {
        const { end, writeHead } = res
        res.writeHead = ((...args: never[]) => {
          seen.push('head')
          return Reflect.apply(writeHead, res, args)
        }) as never
        res.end = ((...args: never[]) => {
          seen.push('end')
          return Reflect.apply(end, res, args)
        }) as never
        next()
      })
      built.post('/', idempotent({ store: memory(downstreamDoesNot), scope }), (_req, res) => void res.send('x'))
    })
    await app.post('/')
    expect(seen).toEqual(['end', 'head'])
    await app.post('/')
    expect(seen).toEqual(['end', 'head', 'end', 'head'])
  })
})

describe('an answer over the limit', () => {
  const policy = { maxBytes: 10_000 }

  it('that a lease protects reaches its caller, and is spent', async () => {
    let runs = 0
    await using app = await startApp((built) => {
      built.post('/', idempotent({ store: memory(downstreamDoesNot), scope, policy }), async (_req, res) => {
        runs++
        for (let at = 0; at < 20; at++) {
          await new Promise((resolve) => setImmediate(resolve))
          res.write('y'.repeat(1_000))
        }
        res.end()
      })
    })
    expect((await app.post('/')).body.length).toBe(20_000)
    const repeat = await app.post('/')
    expect([repeat.status, repeat.json.code, runs]).toEqual([409, 'replay-unavailable', 1])
  })

  it('that is a declared stream begins at once, and the source feels the pressure of a slow reader', async () => {
    let writes = 0
    let stopped = false
    await using app = await startApp((built) => {
      built.post('/', idempotent({ store: memory(downstreamDoesNot), scope, streams: 'spend' }), (_req, res) => {
        const source = new Readable({
          read() {
            writes++
            this.push(stopped ? null : Buffer.alloc(65_536))
          },
        })
        source.pipe(res)
      })
    })
    // Reads the head and nothing more.
    const socket = connect(app.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      'POST / HTTP/1.1\r\nhost: x\r\nidempotency-key: k1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    )
    await new Promise((resolve) => socket.once('readable', resolve))
    await expect.poll(() => writes > 0).toBe(true)
    let before = -1
    await expect
      .poll(
        () => {
          const still = writes === before
          before = writes
          return still
        },
        { interval: 100 },
      )
      .toBe(true)
    expect(writes).toBeLessThan(2_000)
    stopped = true
    socket.destroy()
    const repeat = await app.post('/')
    expect([repeat.status, repeat.json.code]).toEqual([409, 'replay-unavailable'])
  })
})

it('a declared stream that breaks right after its head breaks for its caller, who does not wait for ever', async () => {
  await using app = await startApp((built) => {
    built.post('/', idempotent({ store: memory(downstreamDoesNot), scope, streams: 'spend' }), (_req, res) => {
      res.write('data: 1')
      res.destroy(new Error('the source broke'))
    })
  })
  await expect(app.post('/')).rejects.toThrow('the connection ended')
  expect((await app.post('/')).status).toBe(409)
})

it('trailers reach the first caller', async () => {
  await using app = await startApp((built) => {
    built.post('/', idempotent({ store: memory(downstreamDoesNot), scope }), (_req, res) => {
      res.setHeader('trailer', 'x-digest')
      res.write('body')
      res.addTrailers({ 'x-digest': 'abc' })
      res.end()
    })
  })
  const first = await app.post('/')
  expect([first.text, first.header('transfer-encoding')]).toEqual(['body', 'chunked'])
  expect((await app.post('/')).text).toBe('body')
})
