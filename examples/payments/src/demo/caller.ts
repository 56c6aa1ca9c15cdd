// The client of the demo: oncekey's own, which writes down what it saw attempt by attempt.
import { type AttemptReport, GaveUp, type SendOptions, send } from 'oncekey/client'

export interface Call {
  readonly url: string
  readonly key: string
  readonly body: unknown
  /** The secret key of the account, default `sk_demo_a`. */
  readonly secret?: string
}
export interface Saw {
  /** `201`, `409 in-progress`, `201 replayed`, `no answer`, one for each attempt. */
  readonly attempts: readonly string[]
  readonly status: number | undefined
  readonly id: string | undefined
}

export async function charge({ url, key, body, secret = 'sk_demo_a' }: Call, options: SendOptions = {}): Promise<Saw> {
  const attempts: string[] = []
  const reading: Promise<void>[] = []
  const onAttempt = ({ response }: AttemptReport) => {
    const place = attempts.push('no answer') - 1
    if (!response) return
    const copy = response.clone()
    reading.push(
      summary(copy).then((line) => {
        attempts[place] = line
      }),
    )
  }
  try {
    const request = { key, json: body, headers: { authorization: `Bearer ${secret}` } }
    const response = await send(`${url}/charges`, request, { base: '100ms', attempts: 8, ...options, onAttempt })
    const answer = (await response.json()) as { id?: string }
    await Promise.all(reading)
    return { attempts, status: response.status, id: answer.id }
  } catch (error) {
    if (!(error instanceof GaveUp)) throw error
    await Promise.all(reading)
    return { attempts, status: undefined, id: undefined }
  }
}

/** One attempt, whatever comes of it. */
export function tap(call: Call, options: SendOptions = {}): Promise<Saw> {
  return charge(call, { ...options, attempts: 1 })
}

async function summary(response: Response): Promise<string> {
  const replayed = response.headers.get('idempotent-replayed') === 'true' ? ' replayed' : ''
  if (response.status < 400) return `${response.status}${replayed}`
  const problem = (await response.json().catch(() => ({}))) as { code?: string; error?: string }
  return [response.status, problem.code ?? problem.error].filter(Boolean).join(' ') + replayed
}

export async function chargesOnFile(url: string, secret = 'sk_demo_a'): Promise<number> {
  const response = await fetch(`${url}/charges`, { headers: { authorization: `Bearer ${secret}` } })
  return ((await response.json()) as readonly unknown[]).length
}

export async function atTheBank(bankUrl: string): Promise<{ readonly asked: number; readonly moved: number }> {
  const response = await fetch(`${bankUrl}/bank/charges`)
  return (await response.json()) as { asked: number; moved: number }
}
