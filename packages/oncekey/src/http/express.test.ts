// What is Express's own: where the body is, how often we are mounted, and how a handler comes by its grant.
import express, { type Request } from 'express'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { EXPRESS, startApp } from '../../../../test/support/express-app.ts'
import { isOncekeyError } from '../core/errors.ts'
import { downstreamDoesNot } from '../core/policy.ts'
import type { Leased } from '../core/store.ts'
import { memory } from '../stores/memory.ts'
import { grantOf, idempotent, isProtected } from './express.ts'

const scope = () => 'alice'
const store = () => memory(downstreamDoesNot)

function codeOf(error: unknown): string {
  return isOncekeyError(error) ? error.code : String(error)
}

for (const [name, flavour] of Object.entries(EXPRESS))
  describe(`the body in ${name}`, () => {
    it('that is raw, text or a form reaches a parser behind us byte for byte, and is compared (fastify/fastify#6644)', async () => {
      for (const [type, parser, body, other] of [
        ['text/plain', express.text(), 'amount=1', 'amount=2'],
        ['application/octet-stream', express.raw(), '\u0000\u00ff', '\u0000\u00fe'],
        ['application/x-www-form-urlencoded', express.urlencoded({ extended: true }), 'a=1&b=2', 'a=1&b=3'],
        ['application/json', express.json(), `{"x":"${'y'.repeat(90_000)}"}`, '{"x":1}'],
      ] as const) {
        await using app = await startApp((built) => {
          built.post('/', idempotent({ store: store(), scope }), parser, (req, res) => {
            res.send(Buffer.isBuffer(req.body) ? req.body : JSON.stringify(req.body))
          })
        }, flavour)
        const headers: [string, string][] = [['content-type', type]]
        const first = await app.post('/', { body, headers, key: type })
        expect(first.status).toBe(200)
        expect(first.body.length).toBeGreaterThan(1)
        expect((await app.post('/', { body, headers, key: type })).header('idempotent-replayed')).toBe('true')
        expect((await app.post('/', { body: other, headers, key: type })).status).toBe(422)
      }
    })

    it('that somebody has read and nobody has kept is refused loudly, before the handler (golevelup/nestjs#176)', async () => {
      let runs = 0
      const codes: string[] = []
      await using app = await startApp((built) => {
        built.use((req, _res, next) => {
          req.resume().on('end', () => next())
        })
        built.post('/', idempotent({ store: store(), scope }), (_req, res) => {
          runs++
          res.end()
        })
        built.use((error: unknown, _req: unknown, res: express.Response, _next: unknown) => {
          codes.push(codeOf(error))
          res.status(500).end()
        })
      }, flavour)
      expect((await app.post('/', { body: '{"amount":1}' })).status).toBe(500)
      expect([runs, codes]).toEqual([0, ['BODY_UNREADABLE']])
    })

    it('is compared losslessly where a verify hook kept its bytes', async () => {
      await using app = await startApp((built) => {
        built.use(express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) }))
        built.post('/', idempotent({ store: store(), scope }), (_req, res) => void res.end('x'))
      }, flavour)
      expect((await app.post('/', { body: '{"n":9007199254740993}' })).status).toBe(200)
      expect((await app.post('/', { body: '{"n":9007199254740992}' })).status).toBe(422)
    })

    it('that is none is none, and the parser behind us is not confused', async () => {
      await using app = await startApp((built) => {
        built.post('/', idempotent({ store: store(), scope }), express.json(), (_req, res) => void res.end('x'))
      }, flavour)
      expect((await app.post('/', { body: '' })).status).toBe(200)
      expect((await app.post('/', { body: '' })).header('idempotent-replayed')).toBe('true')
    })
  })

describe('mounting', () => {
  it('twice around one request is an error that names it', async () => {
    const codes: string[] = []
    await using app = await startApp((built) => {
      const one = store()
      built.use(idempotent({ store: one, scope }))
      built.post('/', idempotent({ store: one, scope }), (_req, res) => void res.end('x'))
      built.use((error: unknown, _req: unknown, res: express.Response, _next: unknown) => {
        codes.push(codeOf(error))
        res.status(500).end()
      })
    })
    expect((await app.post('/')).status).toBe(500)
    expect(codes).toEqual(['MOUNTED_TWICE'])
  })

  it('under a prefix compares the whole target', async () => {
    await using app = await startApp((built) => {
      const one = store()
      for (const prefix of ['/v1', '/v2'])
        built.use(
          prefix,
          express.Router().post('/charges', idempotent({ store: one, scope }), (_req, res) => void res.end(prefix)),
        )
    })
    expect((await app.post('/v1/charges')).text).toBe('/v1')
    expect((await app.post('/v2/charges')).status).toBe(422)
  })

  it('without a scope does not compile, and does not start', () => {
    // @ts-expect-error: scope is required
    expect(() => idempotent({ store: store() })).toThrow(/scope/)
  })
})

describe('the grant', () => {
  it('is typed by its store, in middleware and around a handler', async () => {
    const one = store()
    const seen: unknown[] = []
    await using app = await startApp((built) => {
      built.post('/middleware', idempotent({ store: one, scope }), (req, res) => {
        const grant = grantOf(req, one)
        expectTypeOf(grant).toEqualTypeOf<Leased>()
        seen.push(typeof grant.fence, (req as Request & { oncekey: Leased }).oncekey === grant)
        res.end()
      })
      built.post(
        '/handler',
        idempotent({ store: one, scope }, (_req, res, grant) => {
          expectTypeOf(grant).toEqualTypeOf<Leased>()
          seen.push(typeof grant.fence, isProtected(grant))
          res.end()
        }),
      )
    })
    await app.post('/middleware', { key: 'a' })
    await app.post('/handler', { key: 'b' })
    expect(seen).toEqual(['bigint', true, 'bigint', true])
  })

  it('is refused where the request is not protected, or by another store', async () => {
    const codes: string[] = []
    await using app = await startApp((built) => {
      const one = store()
      built.post('/', idempotent({ store: one, scope, required: false }), (req, res) => {
        for (const of of [one, store()])
          try {
            grantOf(req, of)
            codes.push('granted')
          } catch (error) {
            codes.push(codeOf(error))
          }
        res.end()
      })
    })
    await app.post('/')
    expect(codes).toEqual(['granted', 'NOT_PROTECTED'])
  })
})
