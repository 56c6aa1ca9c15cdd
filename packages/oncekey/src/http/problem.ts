/** Problem documents (RFC 9457), one absolute type and one stable code for every way in which a key can stand in the way. */
import { isOncekeyError, type OncekeyError } from '../core/errors.ts'
import type { Outcome } from '../core/once.ts'
import { MAX_PART_LENGTH } from '../core/operation.ts'
import { type Answer, answerCodec } from './answer.ts'
import type { HeaderLine } from './kept-headers.ts'
import { KEY_HEADER, type KeyFault } from './key-header.ts'
import { CONDITIONS, type ConditionEntry, type ConditionKind } from './problem-conditions.ts'
import { COMPARED_PARTS } from './request-fingerprint.ts'

/**
 * What stands in the way: facts about this request and the record's state, and where the caller's own result is.
 * Nothing else of what was asked or answered before.
 */
export type Condition =
  | { readonly kind: 'invalid-key'; readonly reason: KeyFault; readonly maxLength: number }
  | { readonly kind: 'in-progress'; readonly retryAfterMs: number }
  /** `ran`: it ran just now, and its answer could not be saved. */
  | { readonly kind: 'outcome-unknown'; readonly ran?: boolean }
  | { readonly kind: 'replay-unavailable'; readonly location?: string }
  | { readonly kind: 'invalid-json'; readonly fault?: string }
  | {
      readonly kind: Exclude<
        ConditionKind,
        'invalid-key' | 'in-progress' | 'outcome-unknown' | 'replay-unavailable' | 'invalid-json'
      >
    }

export interface ProblemOptions {
  /** Type URIs are this and the code. Absolute, such as `https://docs.example.com/idempotency#`. */
  readonly typeBase?: string
  /** Where the API's own idempotency rules are published; default the type URI where it is an address, else the draft. */
  readonly documentation?: string
  /** The name of the key's header on this route, for the texts. */
  readonly header?: string
  /** Where an unknown outcome can be looked up. */
  readonly lookUp?: string
  /** `WWW-Authenticate` of `missing-scope`: RFC 9110 §15.5.2 wants one with every 401. Default `Bearer`. */
  readonly challenge?: string
}

export interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly [extension: string]: unknown
}
export interface Problem {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly document: ProblemDocument
}

/** Absolute, and it pretends to no domain that is not the API's own. */
export const PROBLEM_TYPES = 'urn:problem-type:oncekey:'
/** What people are led to until the API publishes rules of its own. */
export const DRAFT = 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/'

/**
 * The problem document of a condition; of an error or outcome, where it has one: usage errors, answers and what is not
 * ours give nothing, and belong to whoever catches them.
 */
export function problemFor(what: Condition, options?: ProblemOptions): Problem
export function problemFor(
  what: Condition | OncekeyError | Outcome<unknown>,
  options?: ProblemOptions,
): Problem | undefined
export function problemFor(
  what: Condition | OncekeyError | Outcome<unknown>,
  options: ProblemOptions = {},
): Problem | undefined {
  const condition = isOncekeyError(what) ? conditionOfError(what) : conditionOf(what)
  return condition && problemOf(condition, options)
}

/** As it goes over the wire. */
export function problemAnswer({ status, headers, document }: Problem): Answer {
  return { status, headers, body: new TextEncoder().encode(JSON.stringify(document)) }
}

/** Whole seconds, at least 1, and no longer than it may take. */
export function retryAfterSeconds(ms: number): number {
  return Math.max(1, Math.floor(ms / 1_000))
}

function problemOf(condition: Condition, options: ProblemOptions): Problem {
  const { typeBase = PROBLEM_TYPES, header = KEY_HEADER } = options
  const { kind } = condition
  const { title, detail, retryAfter, ...entry }: ConditionEntry = CONDITIONS[kind]
  const status = kind === 'outcome-unknown' && condition.ran ? 500 : entry.status
  const type = `${typeBase}${kind}`
  const seconds = kind === 'in-progress' ? retryAfterSeconds(condition.retryAfterMs) : retryAfter
  const headers: HeaderLine[] = [
    ['content-type', 'application/problem+json'],
    ['content-language', 'en'],
    [
      'link',
      `<${options.documentation ?? (/^https?:/.test(type) ? type : DRAFT)}>; rel="describedby"; type="text/html"`,
    ],
    ...(seconds === undefined ? [] : [['retry-after', String(seconds)] as const]),
    ...(kind === 'missing-scope' ? [['www-authenticate', options.challenge ?? 'Bearer'] as const] : []),
    ...(kind === 'replay-unavailable' && condition.location ? [['location', condition.location] as const] : []),
  ]
  const text = (template: string): string => template.replaceAll('{header}', header)
  const document = {
    type,
    title: text(title),
    status,
    detail: text(detail),
    code: kind,
    ...extensions(condition, options),
    ...(seconds === undefined ? {} : { retry_after: seconds }),
  }
  return { status, headers, document }
}

function extensions(condition: Condition, { lookUp }: ProblemOptions): Readonly<Record<string, unknown>> {
  switch (condition.kind) {
    case 'invalid-key':
      return { reason: condition.reason, max_length: condition.maxLength }
    case 'invalid-json':
      return condition.fault === undefined ? {} : { reason: condition.fault }
    case 'key-reused':
      return { compared: COMPARED_PARTS }
    case 'outcome-unknown':
      return lookUp === undefined ? {} : { look_up: lookUp }
    default:
      return {}
  }
}

function conditionOf(what: Condition | Outcome<unknown>): Condition | undefined {
  switch (what.kind) {
    case 'ran':
    case 'replayed':
      return undefined
    case 'busy':
      return { kind: 'in-progress', retryAfterMs: what.retryAfterMs }
    case 'mismatch':
      return { kind: 'key-reused' }
    case 'unknown':
      return { kind: 'outcome-unknown' }
    case 'not-kept': {
      const location = locationIn(what.record.head)
      return { kind: 'replay-unavailable', ...(location === undefined ? {} : { location }) }
    }
    default:
      return what
  }
}

/** `OUTCOME_UNKNOWN` is thrown where the work ran just now, and its answer could not be saved. */
function conditionOfError(error: OncekeyError): Condition | undefined {
  switch (error.code) {
    case 'MISSING_KEY':
      return { kind: 'missing-key' }
    case 'INVALID_KEY':
      return { kind: 'invalid-key', reason: 'malformed', maxLength: MAX_PART_LENGTH }
    case 'MISSING_SCOPE':
      return { kind: 'missing-scope' }
    case 'KEY_REUSED':
      return { kind: 'key-reused' }
    case 'OUTCOME_UNKNOWN':
      return { kind: 'outcome-unknown', ran: true }
    case 'COMMIT_UNKNOWN':
      return { kind: 'commit-unknown' }
    case 'TRY_AGAIN':
      return { kind: 'try-again' }
    case 'KEY_TOO_OLD':
      return { kind: 'key-too-old' }
    case 'REPLAY_UNAVAILABLE':
      return { kind: 'replay-unavailable' }
    case 'STORE_UNAVAILABLE':
      return { kind: 'store-unavailable' }
    case 'REQUEST_TOO_LARGE':
      return { kind: 'request-too-large' }
    case 'ANSWER_TOO_LARGE':
      return { kind: 'answer-too-large' }
    case 'INVALID_JSON':
      return {
        kind: 'invalid-json',
        ...(typeof error.details.fault === 'string' ? { fault: error.details.fault } : {}),
      }
    default:
      return undefined
  }
}

function locationIn(head: Uint8Array | undefined): string | undefined {
  if (!head) return undefined
  try {
    const { headers } = answerCodec().decode(head) as Answer
    return headers.find(([name]) => name === 'location')?.[1]
  } catch {
    return undefined
  }
}
