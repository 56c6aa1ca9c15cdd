// One process of a small payments API for races and crashes: any store, mode and framework, 50 ms of work, and kill points.
import { subscribe } from 'node:diagnostics_channel'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import express from 'express'
// @ts-expect-error: Express 4 has the same shape as far as it is used here, and its types would stand in the way of those of 5
import express4 from 'express4'
import { Hono } from 'hono'
import Database from 'libsql'
import { databaseOnly, type Grant, type Store } from 'oncekey'
import { idempotent as onExpress } from 'oncekey/express'
import { idempotent as onHono } from 'oncekey/hono'
import { fromPg, postgres } from 'oncekey/postgres'
import { sqlite } from 'oncekey/sqlite'
import pg from 'pg'

/** `STORE` is a Postgres URL or the path of a SQLite file; with Postgres, `SCHEMA` holds everything. */
const { STORE = '', SCHEMA = 'public', MODE = 'transaction', FRAMEWORK = 'hono', CRASH_AT, LEASE = '30s' } = process.env
const WORK_MS = Number(process.env.WORK_MS ?? 50)

type Insert = () => unknown
/** Tells `starts` that the work has begun, outside of its transaction, and gives what writes the charge inside of it. */
type Charge<G> = (grant: G, amount: number) => Promise<Insert>

const after = { retain: '1h', lease: LEASE as '30s', ...databaseOnly } as const
if (STORE.startsWith('postgres')) await onPostgres()
else await onSqlite()

async function onPostgres(): Promise<void> {
  const pool = new pg.Pool({ connectionString: STORE, max: 10 })
  const apart = new pg.Pool({ connectionString: STORE, max: 1 })
  for (const one of [pool, apart]) one.on('error', () => {})
  const charged = (tx: pg.PoolClient, amount: number) => () =>
    tx.query(`insert into ${SCHEMA}.charge (amount) values ($1)`, [amount])
  const began = () => apart.query(`insert into ${SCHEMA}.start default values`)
  const database = fromPg(pool)
  if (MODE === 'transaction') {
    await serve(postgres(database, { schema: SCHEMA }), async (grant, amount) => {
      await began()
      return charged(grant.tx, amount)
    })
  } else {
    await serve(postgres(database, { schema: SCHEMA, mode: 'lease', ...after }), async (grant, amount) => {
      await began()
      return async () => charged(await grant.begin(), amount)()
    })
  }
}

async function onSqlite(): Promise<void> {
  // A file of its own: the writer of the charges holds the lock of theirs.
  const apart = new Database(`${STORE}-starts`, { timeout: 5_000 })
  apart.exec('create table if not exists start (id integer primary key)')
  const began = () => apart.exec('insert into start default values')
  const charged = (tx: Database.Database, amount: number) => () =>
    tx.prepare('insert into charge (amount) values (?)').run(amount)
  if (MODE === 'transaction') {
    await serve(sqlite(STORE, { driver: Database }), async (grant, amount) => {
      began()
      return charged(grant.tx, amount)
    })
  } else {
    await serve(sqlite(STORE, { driver: Database, mode: 'lease', ...after }), async (grant, amount) => {
      began()
      return async () => charged(await grant.begin(), amount)()
    })
  }
}

async function serve<G extends Grant>(store: Store<G>, charge: Charge<G>): Promise<void> {
  if (CRASH_AT?.startsWith('oncekey:')) subscribe(CRASH_AT, die)
  // A flight later: what `keeping` announces has been handed to the system by then.
  if (CRASH_AT === 'sent') subscribe('oncekey:keeping', () => setImmediate(die))

  async function work(grant: G, amount: number): Promise<{ readonly amount: number }> {
    const insert = await charge(grant, amount)
    await sleep(WORK_MS)
    await insert()
    if (CRASH_AT === 'write') die()
    return { amount }
  }

  const server = createServer(listener(store, work))
  server.listen(0, '127.0.0.1', () => console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`))
}

function listener<G extends Grant>(
  store: Store<G>,
  work: (grant: G, amount: number) => Promise<object>,
): RequestListener {
  if (FRAMEWORK === 'hono') {
    const protection = { store, scope: () => 'acct_1' }
    const app = new Hono().post(
      '/charges',
      onHono(protection, async (c, grant) => c.json(await work(grant, (await c.req.json()).amount), 201)),
    )
    return createAdaptorServer({ fetch: app.fetch }).listeners('request')[0] as RequestListener
  }
  const framework = FRAMEWORK === 'express4' ? (express4 as typeof express) : express
  const app = framework()
  app.post(
    '/charges',
    framework.json(),
    onExpress({ store, scope: () => 'acct_1' }, async (req, res, grant) => {
      res.status(201).json(await work(grant, req.body.amount))
    }),
  )
  return app
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
