// The sample application on Express 5 or 4, with the protection before or behind the body parser, or around each handler.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type express5 from 'express'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { idempotent } from '../../../packages/oncekey/src/http/express.ts'
import type { Reply, SampleApp, Serve } from '../../../packages/oncekey/src/testing/adapter-contract.ts'
import { listening } from './listening.ts'

export type Express = typeof express5
export type Form = 'before the parser' | 'behind the parser' | 'wrapped'

export function serveExpress(express: Express, form: Form): Serve {
  return (app) => {
    const server = express()
    const parser = express.json({ limit: '4mb' })
    server.use((req, res, next) => {
      res.set('x-request-id', app.requestId())
      const { origin } = req.headers
      if (origin) res.set('access-control-allow-origin', origin)
      if (req.method !== 'OPTIONS') return next()
      res.set('access-control-allow-headers', 'authorization, content-type, idempotency-key').status(204).end()
    })
    server.use((req, res, next) => {
      if (app.authenticate(req.headers.authorization).revoked) res.status(403).send('forbidden')
      else next()
    })
    if (form === 'behind the parser') server.use(parser)
    for (const sample of app.samples) {
      const options = {
        store: app.store,
        scope: (req: Request) => app.authenticate(req.headers.authorization).user,
        ...sample.options?.((req: Request, name) => req.get(name)),
      }
      const handler = handlerOf(app, sample)
      if (form === 'wrapped') server.all(sample.path, parser, idempotent(options, handler))
      else if (form === 'before the parser') server.all(sample.path, idempotent(options), parser, forwarding(handler))
      else server.all(sample.path, idempotent(options), forwarding(handler))
    }
    server.use((error: { status?: number; message: string }, _req: Request, res: Response, _next: NextFunction) => {
      res
        .status(error.status ?? 500)
        .type('text/plain')
        .send(error.status ? error.message : 'the app’s own page')
    })
    return listening(createServer(server as never))
  }
}

/** Express 4 does not look at what an async handler rejects with. */
function forwarding(handler: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handler(req, res).catch(next)
  }
}

function handlerOf(app: SampleApp, sample: SampleApp['samples'][number]) {
  return async function handler(req: Request, res: Response): Promise<void> {
    if (req.method === 'GET') {
      res.type('text/plain').send(crypto.randomUUID())
      return
    }
    const reply = await app.run(sample, JSON.stringify(req.body))
    if (reply.throws)
      throw Object.assign(new Error(String(reply.body)), reply.status < 500 ? { status: reply.status } : {})
    await send(res, reply)
  }
}

async function send(res: Response, { status, headers = [], body = null, chunks }: Reply): Promise<void> {
  res.status(status)
  for (const [name, value] of headers) res.append(name, value)
  for (const { text, afterMs } of chunks ?? []) {
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    if (!res.write(text)) await once(res, 'drain')
  }
  if (body === null) res.end()
  else res.end(typeof body === 'string' ? body : Buffer.from(body))
}
