// A protected endpoint in this process, for tests of what callers are told while its store goes away.
import type { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import type { Grant, Store } from 'oncekey'
import { idempotent } from 'oncekey/hono'
import { expect } from 'vitest'

export interface Answered {
  readonly status: number
  readonly code: string | undefined
  readonly replayed: boolean
  readonly retryAfter: string | null
  readonly ms: number
}
export interface Endpoint {
  post(key: string): Promise<Answered>
  /** Asks until the answer is this one; a lease has to end first. */
  until(key: string, status: number, code?: string): Promise<Answered>
  /** Ends the server, then the store. */
  end(): Promise<void>
}

export async function serving<G extends Grant>(
  store: Store<G>,
  work: (grant: G) => Promise<unknown>,
): Promise<Endpoint> {
  const app = new Hono().onError((_, c) => c.json({ error: 'internal' }, 500))
  app.post(
    '/charges',
    idempotent({ store, scope: () => 'acct_1' }, async (c, grant) => {
      await work(grant)
      return c.json({ ok: true }, 201)
    }),
  )
  const server = createAdaptorServer({ fetch: app.fetch }) as ReturnType<typeof createServer>
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/charges`
  async function post(key: string): Promise<Answered> {
    const sent = performance.now()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'content-type': 'application/json' },
      body: '{}',
    })
    const body = (await response.json().catch(() => ({}))) as { code?: string }
    return {
      status: response.status,
      code: body.code,
      replayed: response.headers.get('idempotent-replayed') === 'true',
      retryAfter: response.headers.get('retry-after'),
      ms: performance.now() - sent,
    }
  }

  async function until(key: string, status: number, code?: string): Promise<Answered> {
    for (let tries = 0; ; tries++) {
      const answered = await post(key)
      if (answered.status === status && (code === undefined || answered.code === code)) return answered
      if (tries === 50) expect(answered).toMatchObject({ status, code })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return {
    post,
    until,
    async end() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await store[Symbol.asyncDispose]()
    },
  }
}
