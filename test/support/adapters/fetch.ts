// The sample application as a bare function from Request to Response, behind a server of a few lines.
import { createServer, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { idempotent } from '../../../packages/oncekey/src/http/fetch.ts'
import type { Reply, SampleApp, Serve } from '../../../packages/oncekey/src/testing/adapter-contract.ts'
import { listening } from './listening.ts'

export const serveFetch: Serve = async (app) => {
  const routes = new Map(app.samples.map((sample) => [sample.path, protectedRoute(app, sample)]))
  const server = createServer((req, res) => {
    void respond(toRequest(req))
      .then(async (response) => {
        response.headers.set('x-request-id', app.requestId())
        for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value)
        for (const cookie of response.headers.getSetCookie()) res.appendHeader('set-cookie', cookie)
        res.writeHead(response.status)
        if (response.body)
          for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) res.write(chunk)
        res.end()
      })
      .catch((error: unknown) => {
        // What a server makes of a handler that throws.
        if (res.headersSent) res.destroy()
        else res.writeHead(500).end(String(error))
      })
  })

  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const route = routes.get(pathname)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: cors(request) })
    if (!route) return new Response('no such route', { status: 404 })
    if (app.authenticate(request.headers.get('authorization') ?? undefined).revoked)
      return new Response('forbidden', { status: 403 })
    const response = await route(request)
    for (const [name, value] of cors(request)) response.headers.set(name, value)
    return response
  }
  return listening(server)
}

function protectedRoute(app: SampleApp, sample: SampleApp['samples'][number]): (request: Request) => Promise<Response> {
  return idempotent(
    {
      store: app.store,
      scope: (request) => app.authenticate(request.headers.get('authorization') ?? undefined).user,
      ...sample.options?.((request: Request, name) => request.headers.get(name) ?? undefined),
    },
    async (request) => {
      if (request.method === 'GET') return new Response(crypto.randomUUID())
      return toResponse(await app.run(sample, await request.text()))
    },
  )
}

export function toResponse({ status, headers = [], body = null, chunks, throws }: Reply): Response {
  if (throws && status >= 500) throw new Error('the handler threw')
  const init = { status, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  if (!chunks) return new Response(body, init)
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const { text, afterMs } of chunks) {
        await new Promise((resolve) => setTimeout(resolve, afterMs))
        controller.enqueue(new TextEncoder().encode(text))
      }
      controller.close()
    },
  })
  return new Response(stream, init)
}

function cors(request: Request): [string, string][] {
  const origin = request.headers.get('origin')
  return origin === null
    ? []
    : [
        ['access-control-allow-origin', origin],
        ['access-control-allow-headers', 'authorization, content-type, idempotency-key'],
      ]
}

function toRequest(req: IncomingMessage): Request {
  const headers: [string, string][] = []
  for (let at = 0; at < req.rawHeaders.length; at += 2)
    headers.push([req.rawHeaders[at] ?? '', req.rawHeaders[at + 1] ?? ''])
  const method = req.method ?? 'GET'
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  return new Request(`http://127.0.0.1${req.url}`, {
    method,
    headers,
    ...(hasBody ? { body: Readable.toWeb(req) as NodeStream as never, duplex: 'half' } : {}),
  })
}
