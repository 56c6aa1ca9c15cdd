// The first page's example: a charge on Hono and Postgres, in one transaction with its key and its answer.
import { type Context, Hono } from 'hono'
import { idempotent } from 'oncekey/hono'
import { fromPg, postgres } from 'oncekey/postgres'
import type { Pool } from 'pg'

type Env = { Variables: { account: string } }

export function chargesApi(pool: Pool) {
  const app = new Hono<Env>()
  app.use(authenticate)
  // #region first-page
  const store = postgres(fromPg(pool))

  app.post(
    '/charges',
    idempotent({ store, scope: (c) => c.get('account') }, async (c, { tx }) => {
      const { amount } = await c.req.json()
      const { rows } = await tx.query('insert into charge (amount) values ($1) returning id', [amount])
      return c.json({ id: rows[0].id, amount }, 201)
    }),
  )
  // #endregion
  return { app, store }
}

async function authenticate(c: Context<Env>, next: () => Promise<void>) {
  const account = c.req.header('authorization')?.replace('Bearer ', '')
  if (!account) return c.json({ error: 'unauthorized' }, 401)
  c.set('account', account)
  return next()
}
