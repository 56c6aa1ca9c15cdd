// The endpoints that are loaded, in a process of their own: the load does not share an event loop with what it measures.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { databaseOnly } from 'oncekey'
import { idempotent } from 'oncekey/hono'
import { fromPg, postgres } from 'oncekey/postgres'
import pg from 'pg'
import { bodyOf } from '../ours.ts'
import { articleOnce } from '../postgres/article.ts'
import { charge } from '../postgres/ground.ts'

const CONNECTIONS = 10
const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE, max: CONNECTIONS })
const database = fromPg(pool)
const transaction = postgres(database)
const readFirst = postgres(database, { read: 'first' })
const lease = postgres(database, { mode: 'lease', ...databaseOnly })
await transaction.admin.migrate()

const json = { 'content-type': 'application/json' }
const scope = () => 'client'
const app = new Hono()

app.post('/unprotected', async (c) => {
  await c.req.json()
  return c.body(bodyOf(await charge(pool)), 201, json)
})
app.post('/article', async (c) => {
  await c.req.json()
  let body = ''
  const outcome = await articleOnce(pool, c.req.header('idempotency-key') ?? '', async (client) => {
    body = bodyOf(await charge(client))
    return body
  })
  return outcome === 'in_progress' ? c.body(null, 409) : c.body(body || bodyOf(1), 201, json)
})
for (const [path, store] of [
  ['/transaction', transaction],
  ['/read-first', readFirst],
] as const)
  app.post(
    path,
    idempotent({ store, scope }, async (c, { tx }) => {
      await c.req.json()
      return c.body(bodyOf(await charge(tx)), 201, json)
    }),
  )
app.post(
  '/lease',
  idempotent({ store: lease, scope }, async (c, { begin }) => {
    await c.req.json()
    return c.body(bodyOf(await charge(await begin())), 201, json)
  }),
)

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.({ port }))

// Whoever started this one is gone, or does not need it any more.
process.once('disconnect', () => {
  server.close()
  void pool.end()
})
