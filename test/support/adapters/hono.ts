// The sample application on Hono, with the protection as middleware or around each handler.

import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { idempotent } from '../../../packages/oncekey/src/http/hono.ts'
import type { Serve } from '../../../packages/oncekey/src/testing/adapter-contract.ts'
import { toResponse } from './fetch.ts'
import { listening } from './listening.ts'

export function serveHono(form: 'middleware' | 'wrapped'): Serve {
  return (app) => {
    const hono = new Hono()
    hono.use(cors({ origin: (origin) => origin, allowHeaders: ['authorization', 'content-type', 'idempotency-key'] }))
    hono.use(async (c, next) => {
      c.header('x-request-id', app.requestId())
      await next()
    })
    hono.use(async (c, next) => {
      if (app.authenticate(c.req.header('authorization')).revoked) return c.text('forbidden', 403)
      return next()
    })
    for (const sample of app.samples) {
      const options = {
        store: app.store,
        scope: (c: Context) => app.authenticate(c.req.header('authorization')).user,
        ...sample.options?.((c: Context, name) => c.req.header(name)),
      }
      async function handler(c: Context): Promise<Response> {
        if (c.req.method === 'GET') return c.text(crypto.randomUUID())
        const reply = await app.run(sample, await c.req.text())
        if (reply.throws && reply.status < 500)
          throw new HTTPException(reply.status as 402, { message: String(reply.body) })
        return toResponse(reply)
      }
      if (form === 'wrapped') hono.all(sample.path, idempotent(options, handler))
      else hono.all(sample.path, idempotent(options), handler)
    }
    hono.onError((error, c) => {
      if (error instanceof HTTPException) return error.getResponse()
      return c.text(`the app's own page: ${error.message}`, 500)
    })
    return listening(createAdaptorServer({ fetch: hono.fetch }) as Server)
  }
}
