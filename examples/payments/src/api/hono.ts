// The API on Hono: authentication, then validation, then oncekey, then the work.
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { Grant } from 'oncekey'
import { idempotent } from 'oncekey/hono'
import type { Shop } from '../shop.ts'
import { type Answer, charges } from './charges.ts'
import { mischief } from './mischief.ts'
import { accountOf, descriptionFrom, type Judged, type Order, orderFrom } from './order.ts'

type Env = { Bindings: HttpBindings; Variables: { account: string; order: Order; description: string } }

export function honoApi<G extends Grant, Tx>(shop: Shop<G, Tx>, bankUrl: string): Hono<Env> {
  const cards = mischief()
  const service = charges(shop, bankUrl, cards)
  const protection = { store: shop.store, scope: (c: Context<Env>) => c.get('account') }
  const api = new Hono<Env>()

  api.get('/bank/charges', async (c) => c.json(await (await fetch(`${bankUrl}/bank/charges`)).json()))

  api.use('/charges/*', async (c, next) => {
    const account = accountOf(c.req.header('authorization'))
    if (!account) return c.json({ error: 'unauthorized' }, 401, { 'www-authenticate': 'Bearer' })
    c.set('account', account)
    return next()
  })

  const validOrder: MiddlewareHandler<Env> = async (c, next) => {
    const judged = await judgedBody(c, orderFrom)
    if (judged instanceof Response) return judged
    c.set('order', judged)
    // Only in transaction mode: in lease mode it is the bank that loses its reply.
    if (shop.store.mode === 'transaction')
      cards.loseAnswer(judged.card, `${c.get('account')} ${c.req.header('idempotency-key')}`, c.env.outgoing as never)
    return next()
  }
  const validDescription: MiddlewareHandler<Env> = async (c, next) => {
    const judged = await judgedBody(c, descriptionFrom)
    if (judged instanceof Response) return judged
    c.set('description', judged)
    return next()
  }

  api.get('/charges', async (c) => answer(await service.list(c.get('account'))))
  api.get('/charges/:id', async (c) => answer(await service.get(c.get('account'), c.req.param('id'))))
  api.get('/charges/:id/receipt', async (c) => answer(await service.receipt(c.get('account'), c.req.param('id'))))
  api.post(
    '/charges',
    validOrder,
    idempotent(protection, async (c: Context<Env>, grant) =>
      answer(await service.create(c.get('account'), c.get('order'), grant)),
    ),
  )
  api.patch(
    '/charges/:id',
    validDescription,
    idempotent(protection, async (c: Context<Env>, grant) =>
      answer(await service.describe(c.get('account'), c.req.param('id') ?? '', c.get('description'), grant)),
    ),
  )
  api.post(
    '/charges/:id/capture',
    idempotent(protection, async (c: Context<Env>, grant) =>
      answer(await service.capture(c.get('account'), c.req.param('id') ?? '', grant)),
    ),
  )
  api.post(
    '/charges/:id/receipt',
    idempotent(protection, async (c: Context<Env>) =>
      answer(await service.receipt(c.get('account'), c.req.param('id') ?? '')),
    ),
  )
  return api
}

async function judgedBody<T>(c: Context<Env>, judge: (body: unknown) => Judged<T>): Promise<T | Response> {
  const body: unknown = await c.req.json().catch(() => undefined)
  const judged = judge(body)
  return 'ok' in judged ? judged.ok : c.json({ error: 'invalid_request', faults: judged.faults }, 400)
}

function answer({ status, headers = {}, body }: Answer): Response {
  if (body === undefined) return new Response(null, { status, headers: { ...headers } })
  if (body instanceof Uint8Array)
    return new Response(body as Uint8Array<ArrayBuffer>, { status, headers: { ...headers } })
  return Response.json(body, { status, headers: { ...headers } })
}
