/** Sends one operation until there is a definite answer: the key is fixed before the loop, and every attempt sends the same bytes. */
import { type Duration, milliseconds, monotonic, sleep } from '../core/clock.ts'
import { OncekeyError } from '../core/errors.ts'
import { type Frozen, freeze, type OneRequest } from './request.ts'
import { retryAfterMs, shouldRetry } from './verdict.ts'

export interface SendOptions {
  /** Attempts in all, default 5. */
  readonly attempts?: number
  /** How long one attempt may take until its answer's body has come, default 30 s. */
  readonly timeout?: Duration
  /** How long all attempts and waits may take, default 5 min; keep it below the server's retention. */
  readonly total?: Duration
  /** The first wait, doubled for each further one, default 200 ms. */
  readonly base?: Duration
  /** The longest wait of ours, default 10 s; a server's Retry-After may be longer. */
  readonly cap?: Duration
  readonly signal?: AbortSignal
  readonly fetch?: typeof globalThis.fetch
  /** Default `Idempotency-Key`. */
  readonly header?: string
  /** Told after every attempt. */
  readonly onAttempt?: (report: AttemptReport) => void
}
export interface AttemptReport {
  /** From 1. */
  readonly attempt: number
  readonly key: string
  readonly response?: Response
  readonly error?: unknown
  /** How long we wait before the next attempt; absent where there is none. */
  readonly waitMs?: number
}

/** Nobody knows how the operation ended. The key is what support and the next try need: keep it, do not make a new one. */
export class GaveUp extends OncekeyError {
  readonly key: string
  readonly attempts: number
  readonly response: Response | undefined

  constructor(key: string, attempts: number, response: Response | undefined, cause: unknown) {
    super('GAVE_UP', {
      what: `No definite answer after ${attempts} attempt${attempts === 1 ? '' : 's'}${response ? ` (the last was ${response.status})` : ''}.`,
      where: `send, key ${key}`,
      why: 'The operation may have happened, may still be running, or may never have arrived: its outcome is unknown.',
      fix: 'Send it again later with the same key and the same body, or ask the server what became of it. Never with a new key.',
      cause,
    })
    this.key = key
    this.attempts = attempts
    this.response = response
  }
}

/**
 * Sends `request` with an idempotency key until a definite answer comes, and returns that answer: also a 402 or a 422.
 * Sent again: no answer (a network error, a timeout), 408, 425, 429, 502, 503, 504, a 409 whose problem code is
 * `in-progress`, and a 500 whose code is `outcome-unknown`. Never sooner than the server's Retry-After.
 *
 * @throws `GaveUp` with the key when attempts or time run out, or when the caller's signal aborts after an attempt was made.
 */
export async function send(url: string | URL, request: OneRequest, options: SendOptions = {}): Promise<Response> {
  const {
    attempts = 5,
    timeout = '30s',
    total = '5m',
    base = '200ms',
    cap = '10s',
    signal,
    header = 'Idempotency-Key',
  } = options
  const { fetch = globalThis.fetch, onAttempt } = options
  const limits = { timeoutMs: milliseconds(timeout, 'timeout'), totalMs: milliseconds(total, 'total') }
  const baseMs = milliseconds(base, 'base')
  const capMs = milliseconds(cap, 'cap')
  const frozen = await freeze(request, header)
  signal?.throwIfAborted()

  const started = monotonic()
  for (let attempt = 1; ; attempt++) {
    const leftMs = limits.totalMs - (monotonic() - started)
    const end = await attemptOnce(fetch, url, frozen, { timeoutMs: Math.min(limits.timeoutMs, leftMs), signal })
    const response = 'response' in end ? end.response : undefined
    if (response && !(await shouldRetry(response))) {
      onAttempt?.({ attempt, key: frozen.key, ...end })
      return response
    }
    // Jitter from the first wait on: clients that failed together must not come back together.
    const ours = Math.min(capMs, baseMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
    const waitMs = Math.max(ours, response ? retryAfterMs(response) : 0)
    const over = attempt >= attempts || signal?.aborted === true || monotonic() - started + waitMs >= limits.totalMs
    onAttempt?.({ attempt, key: frozen.key, ...end, ...(over ? {} : { waitMs }) })
    if (!over) await sleep(waitMs, signal)
    if (over || signal?.aborted) throw new GaveUp(frozen.key, attempt, response, 'error' in end ? end.error : undefined)
    await response?.body?.cancel()
  }
}

type AttemptEnd = { readonly response: Response } | { readonly error: unknown }

/** The body is read here, so that an answer which breaks off half-way counts as no answer. */
async function attemptOnce(
  fetch: typeof globalThis.fetch,
  url: string | URL,
  { method, headers, body }: Frozen,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<AttemptEnd> {
  const late = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs)))
  try {
    const answer = await fetch(url, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      signal: signal ? AbortSignal.any([signal, late]) : late,
      ...(body === undefined ? {} : { body: body as never }),
    })
    const bytes = await answer.arrayBuffer()
    const empty = [101, 204, 205, 304].includes(answer.status)
    const { status, statusText } = answer
    const response = new Response(empty ? null : bytes, { status, statusText, headers: answer.headers })
    Object.defineProperty(response, 'url', { value: answer.url })
    return { response }
  } catch (error) {
    return { error }
  }
}
