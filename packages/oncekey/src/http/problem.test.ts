import { describe, expect, it } from 'vitest'
import { type ErrorCode, OncekeyError } from '../core/errors.ts'
import type { Outcome } from '../core/once.ts'
import type { FinishedRecord } from '../core/record.ts'
import { answerCodec } from './answer.ts'
import { type Condition, type Problem, problemAnswer, problemFor, retryAfterSeconds } from './problem.ts'
import { CONDITIONS } from './problem-conditions.ts'

const field = (problem: Problem | undefined, name: string): string | undefined =>
  problem?.headers.find(([header]) => header === name)?.[1]

interface Row {
  readonly condition: Condition
  readonly status: number
  readonly retryAfter?: string
  readonly members?: Readonly<Record<string, unknown>>
}

// One row for each line of the table of conditions in docs/reference/http.md.
const TABLE: readonly Row[] = [
  { condition: { kind: 'missing-key' }, status: 400 },
  {
    condition: { kind: 'invalid-key', reason: 'too-long', maxLength: 255 },
    status: 400,
    members: { reason: 'too-long', max_length: 255 },
  },
  { condition: { kind: 'missing-scope' }, status: 401 },
  {
    condition: { kind: 'key-reused' },
    status: 422,
    members: { compared: ['method', 'target', 'content-type', 'body'] },
  },
  {
    condition: { kind: 'in-progress', retryAfterMs: 2_700 },
    status: 409,
    retryAfter: '2',
    members: { retry_after: 2 },
  },
  { condition: { kind: 'outcome-unknown' }, status: 409 },
  { condition: { kind: 'outcome-unknown', ran: true }, status: 500 },
  { condition: { kind: 'commit-unknown' }, status: 503, retryAfter: '1' },
  { condition: { kind: 'try-again' }, status: 503, retryAfter: '1' },
  { condition: { kind: 'key-too-old' }, status: 422 },
  { condition: { kind: 'replay-unavailable' }, status: 409 },
  { condition: { kind: 'store-unavailable' }, status: 503, retryAfter: '1' },
  { condition: { kind: 'request-too-large' }, status: 413 },
  { condition: { kind: 'replay-forbidden' }, status: 403 },
  { condition: { kind: 'stream-refused' }, status: 406 },
  { condition: { kind: 'answer-too-large' }, status: 500 },
  {
    condition: { kind: 'invalid-json', fault: 'names a member twice' },
    status: 400,
    members: { reason: 'names a member twice' },
  },
]

describe('each condition has a problem document of its own (RFC 9457)', () => {
  it.each(TABLE)('$condition.kind is $status', ({ condition, status, retryAfter, members = {} }) => {
    const problem = problemFor(condition)
    const { type, title, detail } = problem.document
    expect(problem.document).toMatchObject({ status, code: condition.kind, ...members })
    expect(problem.status).toBe(status)
    expect(new URL(type).href).toBe(type)
    expect(title.length * detail.length).toBeGreaterThan(0)
    expect(`${title}${detail}`).not.toMatch(/[{}]/)
    expect(field(problem, 'content-type')).toBe('application/problem+json')
    expect(field(problem, 'link')).toMatch(/^<https:\/\/\S+>; rel="describedby"; type="text\/html"$/)
    expect(field(problem, 'retry-after')).toBe(retryAfter)
  })

  it('has no line of the table without a test, and no type twice', () => {
    expect(new Set(TABLE.map(({ condition }) => condition.kind))).toEqual(new Set(Object.keys(CONDITIONS)))
    const types = Object.keys(CONDITIONS).map((kind) => problemFor({ kind } as Condition).document.type)
    expect(new Set(types).size).toBe(types.length)
  })

  it('uses extension names that every reader takes (RFC 9457 §3.2)', () => {
    for (const { condition } of TABLE)
      for (const name of Object.keys(problemFor(condition, { lookUp: '/payments?key=' }).document))
        expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]{2,}$/)
  })

  it('goes over the wire as strict JSON (ietf-wg-httpapi/idempotency#8; the draft’s own examples have trailing commas)', () => {
    const problem = problemFor({ kind: 'key-reused' })
    const answer = problemAnswer(problem)
    expect(JSON.parse(new TextDecoder().decode(answer.body ?? undefined))).toEqual(problem.document)
    expect(answer.status).toBe(422)
  })

  it('says how the app has it: types, documentation, header, look-up, challenge', () => {
    const options = {
      typeBase: 'https://api.example/problems/',
      documentation: 'https://api.example/idempotency',
      header: 'PayPal-Request-Id',
      lookUp: 'https://api.example/payments',
      challenge: 'DPoP',
    }
    const unknown = problemFor({ kind: 'outcome-unknown' }, options)
    expect(unknown.document).toMatchObject({
      type: 'https://api.example/problems/outcome-unknown',
      look_up: 'https://api.example/payments',
    })
    expect(field(unknown, 'link')).toContain('<https://api.example/idempotency>')
    expect(problemFor({ kind: 'missing-key' }, options).document.title).toBe('PayPal-Request-Id is missing')
    expect(field(problemFor({ kind: 'missing-scope' }, options), 'www-authenticate')).toBe('DPoP')
  })

  it('sends a challenge with every 401 (RFC 9110 §15.5.2)', () => {
    expect(field(problemFor({ kind: 'missing-scope' }), 'www-authenticate')).toBe('Bearer')
  })
})

describe('Retry-After', () => {
  it.each([
    [0, 1],
    [999, 1],
    [1_000, 1],
    [1_999, 1],
    [2_000, 2],
    [29_999, 29],
  ])('of %d ms is %d whole seconds: at least 1, never past the lease', (ms, seconds) => {
    expect(retryAfterSeconds(ms)).toBe(seconds)
  })
})

describe('an outcome', () => {
  const record: FinishedRecord = {
    id: 'f'.repeat(32),
    scope: ['alice'],
    key: 'secret-key',
    state: 'finished',
    why: 'too-large',
  }
  it.each<[Outcome<unknown>, string | undefined]>([
    [{ kind: 'ran', value: 1, fate: 'kept' }, undefined],
    [{ kind: 'replayed', value: 1, record }, undefined],
    [{ kind: 'not-kept', record }, 'replay-unavailable'],
    [{ kind: 'busy', retryAfterMs: 3_000 }, 'in-progress'],
    [{ kind: 'mismatch' }, 'key-reused'],
    [{ kind: 'unknown', record: { ...record, state: 'unknown' } }, 'outcome-unknown'],
  ])('%j is told as %s', (outcome, code) => {
    expect(problemFor(outcome)?.document.code).toBe(code)
  })

  it('names where the result is, if that was kept (VSN2015/concerns_on_rails#47)', () => {
    const head = answerCodec().head?.({ status: 201, headers: [['Location', '/payments/7']], body: null })
    const problem = problemFor({ kind: 'not-kept', record: { ...record, ...(head ? { head } : {}) } })
    expect(field(problem, 'location')).toBe('/payments/7')
    expect(
      field(problemFor({ kind: 'not-kept', record: { ...record, head: new Uint8Array([9]) } }), 'location'),
    ).toBeUndefined()
  })

  it('tells nothing of the record: not scope, key or reason', () => {
    for (const kind of ['not-kept', 'unknown'] as const) {
      const text = JSON.stringify(problemFor({ kind, record } as Outcome<unknown>))
      for (const secret of ['alice', 'secret-key', 'ffff']) expect(text).not.toContain(secret)
    }
  })
})

describe('an error', () => {
  const error = (code: ErrorCode, details = {}): OncekeyError =>
    new OncekeyError(code, { what: 'secret', where: 'secret', why: 'secret', fix: 'secret', details })
  it.each<[ErrorCode, number, string]>([
    ['MISSING_KEY', 400, 'missing-key'],
    ['INVALID_KEY', 400, 'invalid-key'],
    ['MISSING_SCOPE', 401, 'missing-scope'],
    ['KEY_REUSED', 422, 'key-reused'],
    ['OUTCOME_UNKNOWN', 500, 'outcome-unknown'],
    ['COMMIT_UNKNOWN', 503, 'commit-unknown'],
    ['TRY_AGAIN', 503, 'try-again'],
    ['KEY_TOO_OLD', 422, 'key-too-old'],
    ['REPLAY_UNAVAILABLE', 409, 'replay-unavailable'],
    ['STORE_UNAVAILABLE', 503, 'store-unavailable'],
    ['INVALID_JSON', 400, 'invalid-json'],
  ])('%s is %d %s, and its own texts stay inside', (code, status, kind) => {
    const problem = problemFor(error(code, { fault: 'is not JSON', id: 'secret' }))
    expect(problem?.document).toMatchObject({ status, code: kind })
    expect(JSON.stringify(problem)).not.toContain('secret')
  })

  it.each<ErrorCode>(['INVALID_OPTION', 'NESTED_OPERATION', 'BODY_UNREADABLE', 'INVALID_SCOPE', 'SCHEMA_MISSING'])(
    '%s is no answer: it belongs to whoever runs the server',
    (code) => {
      expect(problemFor(error(code))).toBeUndefined()
    },
  )
})
