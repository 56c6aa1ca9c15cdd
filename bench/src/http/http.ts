// Over HTTP, 32 connections and a pool of 10: requests per second beside the same endpoint without protection.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { shuffled } from '../measure.ts'
import { REQUEST_BODY } from '../ours.ts'
import { ground } from '../postgres/ground.ts'
import type { Finding, Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { quantile, spread } from '../spread.ts'

interface Endpoint {
  readonly name: string
  readonly path: string
  readonly keys: 'new' | 'repeated'
  readonly must?: number
  readonly aim?: number
}

const NEW = { must: 0.42, aim: 0.5 }
const REPEATED = { must: 0.9, aim: 1.3 }
const BASE: Endpoint = { name: 'unprotected', path: '/unprotected', keys: 'new' }
const ENDPOINTS: readonly Endpoint[] = [
  { name: 'the article, new keys', path: '/article', keys: 'new' },
  { name: 'T, new keys', path: '/transaction', keys: 'new', ...NEW },
  { name: 'L, new keys', path: '/lease', keys: 'new' },
  { name: 'the article, a repeat', path: '/article', keys: 'repeated' },
  { name: 'T, a repeat', path: '/transaction', keys: 'repeated', ...REPEATED },
  { name: 'T read first, a repeat', path: '/read-first', keys: 'repeated', ...REPEATED },
  { name: 'L, a repeat', path: '/lease', keys: 'repeated', ...REPEATED },
]

const HEADERS = { 'content-type': 'application/json' }
const repeatedKey = (path: string) => `"repeated-${path.slice(1)}"`

export async function http(server: string, { rounds, quick }: Settings): Promise<readonly Section[]> {
  await using base = await ground(server, 1)
  await using app = await serverOn(base.url)
  const seconds = quick ? 1 : 2
  const ratios = new Map<Endpoint, number[]>(ENDPOINTS.map((endpoint) => [endpoint, []]))
  const rates = new Map<Endpoint, number[]>(ENDPOINTS.map((endpoint) => [endpoint, []]))
  for (const endpoint of ENDPOINTS) await first(app.url, endpoint)
  for (const endpoint of [BASE, ...ENDPOINTS]) await load(app.url, endpoint, 1)
  for (let round = 0; round < (quick ? 1 : rounds); round++) {
    let before = await load(app.url, BASE, seconds)
    for (const endpoint of shuffled(ENDPOINTS)) {
      const own = await load(app.url, endpoint, seconds)
      const after = await load(app.url, BASE, seconds)
      ratios.get(endpoint)?.push(own / ((before + after) / 2))
      rates.get(endpoint)?.push(own)
      before = after
    }
  }
  const told = ENDPOINTS.map((endpoint) => ({ endpoint, ...spread(ratios.get(endpoint) ?? []) }))
  return [
    {
      title: 'HTTP on Hono, 32 connections, a pool of 10, each run between two runs of the unprotected endpoint',
      rows: told.map(({ endpoint, median, low, high }) => ({
        endpoint: endpoint.name,
        'requests/s': Math.round(quantile(rates.get(endpoint) ?? [], 0.5)),
        ratio: median.toFixed(2),
        quartiles: `${low.toFixed(2)}-${high.toFixed(2)}`,
      })),
      findings: told.map(
        ({ endpoint: { name, must, aim }, median }): Finding => ({
          what: `HTTP, ${name} / unprotected`,
          value: median,
          bound: 'least',
          ...(must === undefined ? {} : { must }),
          ...(aim === undefined ? {} : { aim }),
        }),
      ),
    },
  ]
}

/** The request that the others repeat: before it has ended they would be refused. */
async function first(url: string, { path }: Endpoint): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    body: REQUEST_BODY,
    headers: { ...HEADERS, 'idempotency-key': repeatedKey(path) },
  })
  if (response.status !== 201) throw new Error(`${path} answered ${response.status} ${await response.text()}`)
}

/** Requests per second. Throws if any of them was not answered with success. */
async function load(url: string, { path, keys }: Endpoint, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: 32,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        path,
        body: REQUEST_BODY,
        setupRequest: (request) => ({
          ...request,
          headers: { ...HEADERS, 'idempotency-key': keys === 'new' ? `"${randomUUID()}"` : repeatedKey(path) },
        }),
      },
    ],
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${path}: ${result.non2xx} refusals and ${result.errors} errors`)
  return result['2xx'] / result.duration
}

interface Server extends AsyncDisposable {
  readonly url: string
}

async function serverOn(database: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.js', import.meta.url)), {
    env: { ...process.env, BENCH_DATABASE: database },
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { readonly port: number }) => resolve(message.port))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
