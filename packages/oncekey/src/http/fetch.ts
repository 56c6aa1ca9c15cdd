/** Protects a function from Request to Response: Bun, Deno, Workers, Next's route handlers, and whatever speaks fetch. */
import type { Grant } from '../core/store.ts'
import type { Answer } from './answer.ts'
import { type Exchange, withExtra } from './exchange.ts'
import { handle } from './handle.ts'
import type { HeaderLine } from './kept-headers.ts'
import { alsoProtected } from './mounted.ts'
import { notProtected } from './not-protected.ts'
import type { IdempotencyOptions } from './options.ts'
import { readRequestBody, withBody } from './request-body.ts'
import { bufferResponse } from './response-body.ts'
import { rulesOf } from './rules.ts'

export { isProtected } from './not-protected.ts'
export type { IdempotencyOptions, Scope } from './options.ts'

/** Its grant is the store's own: `tx` where the store has a transaction. `isProtected` tells whether there is one. */
export type FetchHandler<G extends Grant, Rest extends readonly unknown[]> = (
  request: Request,
  grant: G,
  ...rest: Rest
) => Response | Promise<Response>

/**
 * The handler, run once for each (scope, key). It is entered only by whoever is first; its answer leaves when it is
 * durable. A GET or another safe method is handed on with a grant whose use throws `NOT_PROTECTED`.
 */
export function idempotent<G extends Grant, Rest extends readonly unknown[] = []>(
  options: IdempotencyOptions<Request, G>,
  handler: FetchHandler<G, Rest>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  const rules = rulesOf(options)
  const buffering = { limit: rules.maxAnswerBytes, streams: options.streams }

  return async function protectedHandler(request, ...rest) {
    let bytes: Uint8Array<ArrayBuffer> | undefined
    const readable = (): Request => (bytes ? withBody(request, bytes) : request)
    let held: Response | undefined
    const exchange: Exchange<Request> = {
      get context() {
        return readable()
      },
      method: request.method,
      target: request.url,
      header: (name) => request.headers.get(name) ?? undefined,
      lines: (name) => ({ kind: 'joined', value: request.headers.get(name) }),
      async body(limit) {
        bytes = await readRequestBody(request, limit)
        return { kind: 'bytes', bytes, coding: request.headers.get('content-encoding') }
      },
      signal: () => request.signal,
      identities: [request],
      repeatable: true,
    }
    const handled = await handle(rules, exchange, async function work(grant) {
      // A request for each run: the run before has read its body.
      const answered = await handler(alsoProtected(readable()), grant, ...rest)
      const { produced, response } = await bufferResponse(answered, buffering)
      held = response
      return produced
    })
    switch (handled.kind) {
      case 'untouched':
        return handler(readable(), notProtected<G>(), ...rest)
      case 'ran':
        return decorated(held as Response, handled.extra)
      case 'answer':
        return responseOf(handled.answer, handled.extra)
      default:
        throw handled satisfies never
    }
  }
}

/** Content-Length is the server's: an outer layer may still change the body. */
export function responseOf({ status, headers, body }: Answer, extra: readonly HeaderLine[] = []): Response {
  const lines = withExtra(headers, extra).map(([name, value]): [string, string] => [name, value])
  return new Response(body as Uint8Array<ArrayBuffer> | null, { status, headers: lines })
}

function decorated(response: Response, extra: readonly HeaderLine[]): Response {
  if (extra.length === 0) return response
  const { status, statusText } = response
  const headers = withExtra([...response.headers], extra).map(([name, value]): [string, string] => [name, value])
  return new Response(response.body, { status, statusText, headers })
}
