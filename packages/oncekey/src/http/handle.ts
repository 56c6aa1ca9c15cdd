/** The rules of a protected request, once for every adapter, in the order in which they are judged. */
import { milliseconds } from '../core/clock.ts'
import { isOncekeyError } from '../core/errors.ts'
import { tell } from '../core/events.ts'
import { type Outcome, once } from '../core/once.ts'
import type { FinishedRecord } from '../core/record.ts'
import type { Grant } from '../core/store.ts'
import { carriedKey, isInBody } from './carried-key.ts'
import { acceptableAnswer } from './content-coding.ts'
import type { Exchange, Handled } from './exchange.ts'
import type { HeaderLine } from './kept-headers.ts'
import { markProtected } from './mounted.ts'
import type { Scope } from './options.ts'
import { type Condition, problemAnswer, problemFor } from './problem.ts'
import type { Produced } from './produced.ts'
import { requestFingerprint } from './request-fingerprint.ts'
import type { Rules } from './rules.ts'
import { preferredWaitMs, takePlace } from './waiting.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/**
 * Judges one request, runs `work` for whoever is first, and says what to answer. What the work or the user's functions
 * throw is thrown again, after the attempt has ended in the store; so are mistakes in the use of the library.
 */
export async function handle<C, G extends Grant>(
  rules: Rules<C, G>,
  exchange: Exchange<C>,
  work: (grant: G) => Promise<Produced>,
): Promise<Handled> {
  if (SAFE.has(exchange.method.toUpperCase())) return { kind: 'untouched' }
  try {
    return await judge(rules, exchange, work)
  } catch (error) {
    if (!isOncekeyError(error) || fromWork.has(error)) throw error
    const problem = problemFor(error, rules.problems)
    if (!problem) throw error
    return { kind: 'answer', answer: problemAnswer(problem), extra: rules.extra }
  }
}

/** Errors of ours that the work itself threw (of another store, say): they are not about this operation. */
const fromWork = new WeakSet<object>()

async function judge<C, G extends Grant>(
  rules: Rules<C, G>,
  exchange: Exchange<C>,
  work: (grant: G) => Promise<Produced>,
): Promise<Handled> {
  const { options, carrier } = rules
  const inBody = isInBody(carrier)
  // A header or a query is judged before a byte of the body is read.
  const early = inBody ? undefined : carriedKey(carrier, exchange)
  if (early?.kind === 'invalid') return refused(rules, { ...early, kind: 'invalid-key' })
  const required = options.required !== false && rules.needsKey(exchange.method)
  if (early?.kind === 'absent' && !required) return { kind: 'untouched' }
  if (early?.kind === 'absent' && !options.protect) return refused(rules, { kind: 'missing-key' })
  if (options.streams === 'refuse' && asksForStream(exchange)) return refused(rules, { kind: 'stream-refused' })

  let body = inBody || options.protect ? await exchange.body(rules.maxBodyBytes) : undefined
  const key = early ?? carriedKey(carrier, exchange, body)
  if (key.kind === 'invalid') return refused(rules, { ...key, kind: 'invalid-key' })
  if (options.protect && !(await options.protect(exchange.context))) return { kind: 'untouched' }
  if (key.kind === 'absent') return required ? refused(rules, { kind: 'missing-key' }) : { kind: 'untouched' }

  const scope = usableScope(await options.scope(exchange.context))
  if (!scope) return refused(rules, { kind: 'missing-scope' })
  const name = rules.nameOf(exchange)
  markProtected(exchange.identities, name)
  body ??= await exchange.body(rules.maxBodyBytes)
  const contentType = exchange.header('content-type')
  const fingerprints = requestFingerprint(
    { method: exchange.method, target: exchange.target, body, ...(contentType ? { contentType } : {}) },
    options.compare,
  )
  return attempt(rules, exchange, { work, operation: { scope, key: key.key, fingerprints, name } })
}

interface Attempting<G extends Grant> {
  readonly work: (grant: G) => Promise<Produced>
  readonly operation: Parameters<typeof once>[1]
}

async function attempt<C, G extends Grant>(
  rules: Rules<C, G>,
  exchange: Exchange<C>,
  { work, operation }: Attempting<G>,
): Promise<Handled> {
  const { options } = rules
  const waiting = place(rules, exchange, operation)
  let ran: { readonly produced: Produced } | { readonly error: unknown } | undefined
  async function entered(grant: G): Promise<Produced> {
    waiting?.giveBack()
    try {
      const produced = await work(grant)
      ran = { produced }
      return produced
    } catch (error) {
      ran = { error }
      throw error
    }
  }
  try {
    const outcome = await once(options.store, operation, entered, {
      codec: rules.codec,
      policy: waiting ? { ...rules.policy, wait: waiting.ms } : rules.policy,
      repeatable: exchange.repeatable,
      ...(waiting?.signal ? { signal: waiting.signal } : {}),
      ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    })
    return await answerTo(rules, exchange, { outcome, ran: ran !== undefined })
  } catch (error) {
    if (ran && 'error' in ran && ran.error === error) tellOwn(error, operation.name)
    throw error
  } finally {
    waiting?.giveBack()
  }
}

function tellOwn(error: unknown, route: string | undefined): void {
  if (!isOncekeyError(error)) return
  if (error.code === 'ANSWER_TOO_LARGE')
    tell('oversized', { why: error.what, error, ...(route ? { name: route } : {}) })
  else fromWork.add(error)
}

interface Waiting {
  readonly ms: number
  readonly signal: AbortSignal | undefined
  giveBack(): void
}

/** A duplicate waits where its route or its request says so, and a place is free. */
function place<C, G extends Grant>(
  { options, policy }: Rules<C, G>,
  exchange: Exchange<C>,
  { scope, key }: Attempting<G>['operation'],
): Waiting | undefined {
  const own = policy.wait === undefined ? 0 : milliseconds(policy.wait, 'wait')
  const asked = Math.min(preferredWaitMs(exchange.header('prefer')), milliseconds(options.maxWait ?? '10s', 'maxWait'))
  const ms = Math.max(own, asked)
  if (ms === 0) return undefined
  const giveBack = takePlace(JSON.stringify([scope, key]))
  return giveBack ? { ms, giveBack, signal: exchange.signal?.() } : { ms: 0, giveBack() {}, signal: undefined }
}

interface Ended {
  readonly outcome: Outcome<Produced>
  readonly ran: boolean
}

async function answerTo<C, G extends Grant>(
  rules: Rules<C, G>,
  exchange: Exchange<C>,
  { outcome, ran }: Ended,
): Promise<Handled> {
  switch (outcome.kind) {
    case 'ran':
      return { kind: 'ran', produced: outcome.value, extra: rules.extra }
    case 'replayed': {
      if (!(await mayReplay(rules, exchange, outcome.record))) return refused(rules, { kind: 'replay-forbidden' })
      const answer = acceptableAnswer(outcome.value.answer, exchange.header('accept-encoding'))
      const marked: HeaderLine[] = [...answer.headers, ['idempotent-replayed', 'true']]
      return { kind: 'answer', answer: { ...answer, headers: marked }, extra: rules.extra }
    }
    case 'not-kept':
      if (!(await mayReplay(rules, exchange, outcome.record))) return refused(rules, { kind: 'replay-forbidden' })
      return problem(rules, outcome)
    case 'unknown':
      return refused(rules, { kind: 'outcome-unknown', ran })
    case 'busy':
    case 'mismatch':
      return problem(rules, outcome)
    default:
      throw outcome satisfies never
  }
}

async function mayReplay<C, G extends Grant>(
  { options }: Rules<C, G>,
  { context }: Exchange<C>,
  record: FinishedRecord,
): Promise<boolean> {
  return options.authorizeReplay ? options.authorizeReplay(context, record) : true
}

function refused<C, G extends Grant>(rules: Rules<C, G>, condition: Condition): Handled {
  return { kind: 'answer', answer: problemAnswer(problemFor(condition, rules.problems)), extra: rules.extra }
}

function problem<C, G extends Grant>(rules: Rules<C, G>, outcome: Outcome<unknown>): Handled {
  const document = problemFor(outcome, rules.problems)
  if (!document) throw new TypeError(`an outcome of kind ${outcome.kind} has no problem document`)
  return { kind: 'answer', answer: problemAnswer(document), extra: rules.extra }
}

/** Nothing, and nothing in part, is nobody. */
function usableScope(scope: Scope): string | readonly string[] | undefined {
  const parts = typeof scope === 'string' ? [scope] : (scope ?? [])
  if (
    parts.length === 0 ||
    parts.some((part) => (typeof part === 'string' ? part.trim() === '' : part === undefined || part === null))
  )
    return undefined
  return scope as string | readonly string[]
}

function asksForStream<C>(exchange: Exchange<C>): boolean {
  return /text\/event-stream/i.test(exchange.header('accept') ?? '') || exchange.header('upgrade') !== undefined
}
