/** Protects Hono routes: as middleware, where everything behind it is the work, or around one handler that is given its grant. */
import type { Context, Env, Handler, MiddlewareHandler } from 'hono'
import type { Grant } from '../core/store.ts'
import type { Exchange } from './exchange.ts'
import { handle } from './handle.ts'
import { outerHeaders, sendAnswer, sendProduced } from './hono-answer.ts'
import { exchangeOf } from './hono-exchange.ts'
import { runBehind, runHandler } from './hono-work.ts'
import { notProtected } from './not-protected.ts'
import type { IdempotencyOptions } from './options.ts'
import type { Produced } from './produced.ts'
import { bufferResponse } from './response-body.ts'
import { rulesOf } from './rules.ts'

export { isProtected } from './not-protected.ts'
export type { IdempotencyOptions, Scope } from './options.ts'

/** What the middleware puts into the context: `c.get('oncekey')`, or `c.var.oncekey.tx` where the store has a transaction. */
export interface OncekeyVariables<G extends Grant> {
  readonly Variables: { oncekey: G }
}

// biome-ignore lint/suspicious/noExplicitAny: Hono's own middleware is typed for any environment in the same way
type AnyContext = Context<any>

/** Middleware: mount authentication and validators before it, compression outside of it. */
export function idempotent<G extends Grant>(
  options: IdempotencyOptions<AnyContext, G>,
): MiddlewareHandler<OncekeyVariables<G>>
/** One handler, entered only by whoever is first, with its grant. */
export function idempotent<G extends Grant, E extends Env = Env, P extends string = string>(
  options: IdempotencyOptions<AnyContext, G>,
  handler: (c: Context<E, P>, grant: G) => Response | Promise<Response>,
): Handler<E, P>
export function idempotent<G extends Grant>(
  options: IdempotencyOptions<AnyContext, G>,
  handler?: (c: AnyContext, grant: G) => Response | Promise<Response>,
): MiddlewareHandler | Handler {
  const rules = rulesOf(options)
  const buffering = { limit: rules.maxAnswerBytes, streams: options.streams }

  return async function idempotentRoute(c: AnyContext, next): Promise<Response | undefined> {
    let live: Response | undefined
    let outer: Headers | undefined
    const exchange: Exchange<AnyContext> = exchangeOf(c, handler !== undefined)
    async function work(grant: G): Promise<Produced> {
      outer ??= outerHeaders(c)
      c.set('oncekey', grant)
      const answered = handler ? await runHandler(c, () => handler(c, grant)) : await runBehind(c, next)
      const { produced, response } = await bufferResponse(answered.response, buffering)
      live = response
      return 'threw' in answered ? { ...produced, threw: answered.threw } : produced
    }
    const handled = await handle(rules, exchange, work)
    switch (handled.kind) {
      case 'untouched': {
        const standIn = notProtected<G>()
        c.set('oncekey', standIn)
        if (handler) return handler(c, standIn)
        await next()
        return undefined
      }
      case 'ran':
        return sendProduced(c, live as Response, { extra: handled.extra, behind: handler === undefined })
      case 'answer':
        return sendAnswer(c, handled, outer ?? outerHeaders(c))
      default:
        throw handled satisfies never
    }
  }
}
