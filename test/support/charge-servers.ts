// Starts the small payments API as processes, on one database.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { root } from './command.ts'

export interface ChargeServer {
  readonly url: string
  readonly ended: Promise<void>
}

/** Ends with the test. */
export async function chargeServer(env: Readonly<Record<string, string>>): Promise<ChargeServer> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/charge-server.ts'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const failed = ended.then(() => Promise.reject(new Error(`the server ended before it was ready: ${complaint}`)))
  failed.catch(() => {})
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed])) as [string]
  return { url: line.replace('ready ', ''), ended }
}

export interface Seen {
  readonly status: number
  readonly code: string | undefined
  readonly replayed: boolean
  readonly retryAfter: string | null
}

/** One request; status 0 where no answer came. */
export async function post(url: string, key: string, amount = 2500): Promise<Seen> {
  try {
    const response = await fetch(`${url}/charges`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ amount }),
    })
    const body = (await response.json()) as { code?: string }
    const replayed = response.headers.get('idempotent-replayed') === 'true'
    return { status: response.status, code: body.code, replayed, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { status: 0, code: undefined, replayed: false, retryAfter: null }
  }
}
