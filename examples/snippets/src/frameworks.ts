// The same protection on Express and on fetch, in the forms that the how-to page shows.
import express from 'express'
import { downstreamDedupes } from 'oncekey'
import { grantOf, idempotent } from 'oncekey/express'
import { idempotent as protect } from 'oncekey/fetch'
import { policies } from 'oncekey/http'
import { memory } from 'oncekey/memory'

export interface Bank {
  charge(key: string, amount: number, signal: AbortSignal): Promise<{ readonly id: string }>
}

export function onExpress(bank: Bank) {
  const app = express()
  app.use((req, res, next) => {
    res.locals.account = req.headers.authorization
    next()
  })
  // #region express
  const store = memory(downstreamDedupes({ for: '24h' }))

  app.post(
    '/charges',
    express.json(),
    idempotent({ store, scope: (req) => req.res?.locals.account }, async (req, res, grant) => {
      const charge = await bank.charge(grant.childKey('charge'), req.body.amount, grant.signal)
      res.status(201).location(`/charges/${charge.id}`).json(charge)
    }),
  )
  // #endregion
  // #region middleware
  app.use('/refunds', express.json(), idempotent({ store, scope: (req) => req.res?.locals.account }))
  app.post('/refunds', async (req, res) => {
    const { childKey, signal } = grantOf(req, store)
    res.status(201).json(await bank.charge(childKey('refund'), -req.body.amount, signal))
  })
  // #endregion
  return { app, store }
}

export function onFetch(bank: Bank, accountOf: (request: Request) => string | undefined) {
  const store = memory(downstreamDedupes({ for: '24h' }))
  // #region fetch
  const handler = protect({ store, scope: accountOf, policy: policies.stripeV1 }, async (request, grant) => {
    const { amount } = (await request.json()) as { amount: number }
    return Response.json(await bank.charge(grant.childKey('charge'), amount, grant.signal), { status: 201 })
  })
  // #endregion
  return { handler, store }
}
