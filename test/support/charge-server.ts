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
import type { Grant, Store } from 'oncekey'
import { idempotent as onExpress } from 'oncekey/express'
import { idempotent as onHono } from 'oncekey/hono'
import type { Charge, Open } from './charges/charging.ts'

/** `STORE` is an address; its scheme says which file of `charges` opens it. */
const { STORE = '', FRAMEWORK = 'hono', CRASH_AT } = process.env
const WORK_MS = Number(process.env.WORK_MS ?? 50)

const { open } = (await import(`./charges/${STORE.slice(0, STORE.indexOf(':'))}.ts`)) as { open: Open }
await open(serve, process.env)

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
