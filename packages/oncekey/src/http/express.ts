/** Protects Express 5 and 4 routes: as middleware, where everything behind it is the work, or around one handler that is given its grant. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Grant, Store } from '../core/store.ts'
import { exchangeOf } from './express-exchange.ts'
import { handle } from './handle.ts'
import { type HeldResponse, holdResponse } from './held-response.ts'
import { inside } from './inside.ts'
import { sendAnswer } from './node-answer.ts'
import { notProtected, notProtectedError } from './not-protected.ts'
import type { IdempotencyOptions } from './options.ts'
import type { Produced } from './produced.ts'
import { rulesOf } from './rules.ts'

export { isProtected } from './not-protected.ts'
export type { IdempotencyOptions, Scope } from './options.ts'

const grants = new WeakMap<object, { readonly grant: Grant; readonly store: Store }>()

/** The grant of a protected request, typed by its store. Throws `NOT_PROTECTED` where there is none, or it is another store's. */
export function grantOf<G extends Grant>(req: object, store: Store<G>): G {
  const held = grants.get(req)
  if (held === undefined || held.store !== (store as unknown)) throw notProtectedError('grantOf')
  return held.grant as G
}

export type ExpressHandler<G extends Grant> = (req: Request, res: Response, grant: G) => unknown

/**
 * Middleware, or one handler that is entered only by whoever is first. Mount authentication and validators before it.
 * No byte of the answer leaves before the attempt has ended in the store.
 */
export function idempotent<G extends Grant>(
  options: IdempotencyOptions<Request, G>,
  handler?: ExpressHandler<G>,
): RequestHandler {
  const rules = rulesOf(options)
  const { store, streams } = options

  function hold(req: Request, res: Response, within: ReturnType<typeof inside>): HeldResponse {
    return holdResponse(res, {
      inside: within,
      limit: rules.maxAnswerBytes,
      overLimit: store.mode === 'transaction' ? 'fail' : 'spend',
      spendAtHead: streams === 'spend',
      name: rules.nameOf({ method: req.method, target: req.originalUrl }),
    })
  }

  async function serve(req: Request, res: Response, next: NextFunction): Promise<void> {
    let held: HeldResponse | undefined
    async function work(grant: G): Promise<Produced> {
      grants.set(req, { grant, store: store as unknown as Store })
      Object.assign(req, { oncekey: grant })
      const within = inside()
      held = hold(req, res, within)
      let threw: Produced['threw']
      within.run(() => {
        if (!handler) next()
        else
          void enter(() => handler(req, res, grant)).catch((error: unknown) => {
            threw = { error }
            // The app's error middleware answers; it is still the work's answer.
            next(error)
          })
      })
      const produced = await held.ended
      return threw ? { ...produced, threw } : produced
    }
    try {
      const handled = await handle(rules, exchangeOf(req, res), work)
      switch (handled.kind) {
        case 'untouched':
          if (handler) await enter(() => handler(req, res, notProtected<G>()))
          else next()
          return
        case 'ran':
          held?.send(handled.extra)
          return
        case 'answer':
          held?.drop()
          sendAnswer(res, handled)
          return
        default:
          throw handled satisfies never
      }
    } catch (error) {
      held?.drop()
      next(error)
    }
  }
  return function idempotentRoute(req, res, next) {
    void serve(req, res, next)
  }
}

async function enter(handler: () => unknown): Promise<void> {
  await handler()
}
