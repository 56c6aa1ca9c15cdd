/** A Hono request as the rules see it: raw header lines and target where the server in front shows them. */
import type { Context } from 'hono'
import type { Exchange } from './exchange.ts'
import type { KeySource } from './key-header.ts'
import { alsoProtected } from './mounted.ts'
import { readRequestBody, unreadable, withBody } from './request-body.ts'
import { requestTooLarge } from './request-too-large.ts'

/** What `@hono/node-server` puts into the environment. */
interface NodeBindings {
  readonly incoming?: { readonly rawHeaders?: readonly string[]; readonly url?: string }
}

export function exchangeOf(c: Context, repeatable: boolean): Exchange<Context> {
  const { incoming } = (c.env ?? {}) as NodeBindings
  return {
    context: c,
    method: c.req.method,
    target: incoming?.url ?? c.req.raw.url,
    header: (name) => c.req.header(name),
    lines(name): KeySource {
      if (incoming?.rawHeaders) return { kind: 'raw', rawHeaders: incoming.rawHeaders }
      return { kind: 'joined', value: c.req.raw.headers.get(name) }
    },
    async body(limit) {
      return { kind: 'bytes', bytes: await readBody(c, limit), coding: c.req.header('content-encoding') }
    },
    signal: () => c.req.raw.signal,
    identities: incoming ? [c.req.raw, incoming] : [c.req.raw],
    repeatable,
  }
}

/** Whatever has been read through `c.req` is in its cache; `c.req.raw` is put back, so that both work behind us. */
async function readBody(c: Context, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const { req } = c
  const where = `${req.method} ${req.path}`
  const cache = req.bodyCache as Record<string, unknown>
  const cached = Object.keys(cache)
  let bytes: Uint8Array<ArrayBuffer>
  if (cached.length > 0) {
    // A form that was parsed is written anew with another boundary: every retry would be another request.
    if (cached.every((name) => name === 'formData' || name === 'parsedBody')) throw unreadable(where)
    bytes = new Uint8Array(await req.arrayBuffer())
    if (bytes.length > limit) throw requestTooLarge(limit, where)
  } else {
    bytes = await readRequestBody(req.raw, limit)
    cache.arrayBuffer = Promise.resolve(bytes.buffer)
  }
  req.raw = alsoProtected(withBody(req.raw, bytes))
  return bytes
}
