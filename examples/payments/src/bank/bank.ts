// A pretend bank, as its own HTTP server. Like real ones it remembers the keys it is given; unlike them it does what the card says.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Movement {
  readonly id: string
  readonly amount: number
  readonly currency: string
}
export interface Bank extends AsyncDisposable {
  readonly url: string
}

/** Answers `POST /bank/charges` and `GET /bank/charges`. `tok_slow`, `tok_lost` and `tok_error` do their mischief once per key. */
export async function startBank(port = 0): Promise<Bank> {
  const movements: Movement[] = []
  const byKey = new Map<string, Movement>()
  const met = new Set<string>()
  let asked = 0

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== '/bank/charges') return json(response, 404, { error: 'not_found' })
    if (request.method === 'GET') return json(response, 200, { asked, moved: movements.length, charges: movements })
    const key = request.headers['idempotency-key']
    const { amount, currency, card } = JSON.parse(await text(request)) as {
      amount: number
      currency: string
      card: string
    }
    if (typeof key !== 'string') return json(response, 400, { error: 'send an Idempotency-Key' })
    asked += 1
    const known = byKey.get(key)
    const mischief = met.has(key) ? undefined : card
    met.add(key)
    if (known) return json(response, 201, known)
    if (card === 'tok_declined') return json(response, 402, { error: 'card_declined' })
    if (mischief === 'tok_error') return json(response, 500, { error: 'the bank has a bad day; nothing was charged' })
    // Booked before the pause: a second request with this key must find it, not race it.
    const movement = { id: `mv_${movements.length + 1}`, amount, currency }
    movements.push(movement)
    byKey.set(key, movement)
    if (mischief === 'tok_slow') await sleep(600)
    if (mischief === 'tok_lost') return void response.destroy()
    json(response, 201, movement)
  }

  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => close(server),
  }
}

export async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
