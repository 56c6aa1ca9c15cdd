// The API on Express: authentication, then the body and its validation, then oncekey, then the work.
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import type { Grant } from 'oncekey'
import { idempotent } from 'oncekey/express'
import type { Shop } from '../shop.ts'
import { type Answer, charges } from './charges.ts'
import { mischief } from './mischief.ts'
import { accountOf, descriptionFrom, type Judged, orderFrom } from './order.ts'

export function expressApi<G extends Grant, Tx>(shop: Shop<G, Tx>, bankUrl: string): Express {
  const cards = mischief()
  const service = charges(shop, bankUrl, cards)
  const protection = { store: shop.store, scope: (req: Request) => req.res?.locals.account as string | undefined }
  const api = express()
  api.disable('x-powered-by')

  api.get('/bank/charges', async (_, res) => {
    res.json(await (await fetch(`${bankUrl}/bank/charges`)).json())
  })

  api.use('/charges', (req, res, next) => {
    res.locals.account = accountOf(req.headers.authorization)
    if (res.locals.account) next()
    else res.status(401).set('www-authenticate', 'Bearer').json({ error: 'unauthorized' })
  })
  api.use(express.json({ limit: '1mb' }))

  const validOrder: RequestHandler = (req, res, next) => {
    const order = judgedBody(req, res, orderFrom)
    if (order === undefined) return
    res.locals.order = order
    // Only in transaction mode: in lease mode it is the bank that loses its reply.
    if (shop.store.mode === 'transaction')
      cards.loseAnswer(order.card, `${res.locals.account} ${req.headers['idempotency-key']}`, res)
    next()
  }
  const validDescription: RequestHandler = (req, res, next) => {
    res.locals.description = judgedBody(req, res, descriptionFrom)
    if (res.locals.description !== undefined) next()
  }
  const idOf = (req: Request) => String(req.params.id)

  api.get('/charges', async (_, res) => send(res, await service.list(res.locals.account)))
  api.get('/charges/:id', async (req, res) => send(res, await service.get(res.locals.account, idOf(req))))
  api.get('/charges/:id/receipt', async (req, res) => send(res, await service.receipt(res.locals.account, idOf(req))))
  api.post(
    '/charges',
    validOrder,
    idempotent(protection, async (_, res, grant) =>
      send(res, await service.create(res.locals.account, res.locals.order, grant)),
    ),
  )
  api.patch(
    '/charges/:id',
    validDescription,
    idempotent(protection, async (req, res, grant) =>
      send(res, await service.describe(res.locals.account, idOf(req), res.locals.description, grant)),
    ),
  )
  api.post(
    '/charges/:id/capture',
    idempotent(protection, async (req, res, grant) =>
      send(res, await service.capture(res.locals.account, idOf(req), grant)),
    ),
  )
  api.post(
    '/charges/:id/receipt',
    idempotent(protection, async (req, res) => send(res, await service.receipt(res.locals.account, idOf(req)))),
  )

  api.use(
    (error: { readonly status?: number; readonly message: string }, _: Request, res: Response, next: NextFunction) => {
      if (res.headersSent) return next(error)
      const status = error.status ?? 500
      res.status(status).json({ error: status < 500 ? error.message : 'internal_error' })
    },
  )
  return api
}

function judgedBody<T>(req: Request, res: Response, judge: (body: unknown) => Judged<T>): T | undefined {
  const judged = judge(req.body)
  if ('ok' in judged) return judged.ok
  res.status(400).json({ error: 'invalid_request', faults: judged.faults })
  return undefined
}

function send(res: Response, { status, headers = {}, body }: Answer): void {
  res.status(status).set({ ...headers })
  if (body === undefined) res.end()
  else if (body instanceof Uint8Array) res.end(body)
  else res.json(body)
}
