import { describe, expect, it } from 'vitest'
import type { AfterFailure, End, Judgement } from '../core/policy.ts'
import type { Answer } from './answer.ts'
import { answerFromError } from './error-answer.ts'
import { policies } from './policies.ts'

type Name = keyof typeof policies
type OnFailure = AfterFailure['onFailure']
const ON_FAILURE: readonly OnFailure[] = ['free', 'retry', 'hold']
const latest = (value: Answer): Answer => ({ ...value, status: 299 })
const POLICIES = {
  default: policies.default,
  stripeV1: policies.stripeV1,
  stripeV2: policies.stripeV2,
  ietf: policies.ietf,
  paypal: policies.paypal(latest),
}

const returned = (status: number): End<Answer> => ({ kind: 'returned', value: { status, headers: [], body: null } })
const threw: End<Answer> = { kind: 'threw', error: new Error('no') }

type Cell = Judgement | 'onFailure'
interface Line {
  readonly answer: string
  readonly ends: readonly End<Answer>[]
  readonly mode: 'transaction' | 'lease'
  readonly is: Readonly<Record<Name, Cell>>
}

// docs/reference/http.md, "What is kept", line by line. "Run again" is `free` where a rollback proves that nothing
// happened, and `retry` where there is no such proof.
const SUCCESS = [returned(200), returned(201), returned(204), returned(302), returned(304)]
const REFUSAL = [returned(400), returned(402), returned(404), returned(409), returned(499)]
const FAILURE = [returned(500), returned(502), returned(503), returned(599)]
const KEPT = { default: 'keep', stripeV1: 'keep', stripeV2: 'keep', ietf: 'keep', paypal: 'keep' } as const
const TABLE: readonly Line[] = [
  { answer: '2xx, 3xx', ends: SUCCESS, mode: 'transaction', is: KEPT },
  { answer: '2xx, 3xx', ends: SUCCESS, mode: 'lease', is: KEPT },
  { answer: '4xx returned by the work', ends: REFUSAL, mode: 'transaction', is: { ...KEPT, stripeV2: 'free' } },
  { answer: '4xx returned by the work', ends: REFUSAL, mode: 'lease', is: { ...KEPT, stripeV2: 'retry' } },
  {
    answer: '5xx returned',
    ends: FAILURE,
    mode: 'transaction',
    is: { default: 'free', stripeV1: 'keep', stripeV2: 'free', ietf: 'keep', paypal: 'free' },
  },
  {
    answer: 'thrown',
    ends: [threw],
    mode: 'transaction',
    is: { default: 'free', stripeV1: 'keep-undone', stripeV2: 'free', ietf: 'keep-undone', paypal: 'free' },
  },
  {
    answer: '5xx returned or thrown',
    ends: [...FAILURE, threw],
    mode: 'lease',
    is: { default: 'onFailure', stripeV1: 'keep', stripeV2: 'retry', ietf: 'keep', paypal: 'onFailure' },
  },
]

describe('what is kept', () => {
  for (const { answer, ends, mode, is } of TABLE)
    it.each(Object.entries(is) as [Name, Cell][])(`${answer}, ${mode} mode, by %s: %s`, (name, cell) => {
      for (const end of ends)
        for (const onFailure of ON_FAILURE)
          expect(POLICIES[name].judge?.(end, mode, onFailure)).toBe(cell === 'onFailure' ? onFailure : cell)
    })

  it('a key is freed in lease mode only by the owner of the operation (pathosDev/actor-ts#984)', () => {
    for (const policy of Object.values(POLICIES))
      for (const end of [...SUCCESS, ...REFUSAL, ...FAILURE, threw])
        expect(policy.judge?.(end, 'lease', 'hold')).not.toBe('free')
  })

  it('a policy that keeps throws says what is kept of them, and may undo writes', () => {
    for (const [name, policy] of Object.entries(POLICIES)) {
      const keeps = policy.judge?.(threw, 'transaction', 'free') === 'keep-undone'
      expect([name, policy.fromError !== undefined, policy.discardable === true]).toEqual([name, keeps, keeps])
    }
  })

  it('a replay of paypal shows the latest state, of the others what was kept', async () => {
    const value: Answer = { status: 201, headers: [], body: null }
    const record = { id: '', state: 'finished' } as const
    expect(await POLICIES.paypal.replay?.(value, record)).toMatchObject({ status: 299 })
    for (const name of ['default', 'stripeV1', 'stripeV2', 'ietf'] as const)
      expect(POLICIES[name].replay).toBeUndefined()
  })
})

describe('what is kept of a throw', () => {
  it.each([
    ['http-errors', Object.assign(new Error('card number 4242'), { status: 402, expose: true }), 402],
    ['fastify', Object.assign(new Error('card number 4242'), { statusCode: 409 }), 409],
    ['an error without a status', new Error('card number 4242'), 500],
    ['a status that is no error', Object.assign(new Error('card number 4242'), { status: 200 }), 500],
    ['a status that is none', Object.assign(new Error('card number 4242'), { status: 'late', statusCode: 503 }), 503],
    ['nothing', undefined, 500],
    ['a text', 'card number 4242', 500],
    ['null', null, 500],
  ])('is its status and never its text: %s', (_, error, status) => {
    const { body, ...head } = answerFromError(error)
    expect(head).toMatchObject({ status, headers: [['content-type', 'application/problem+json']] })
    const text = new TextDecoder().decode(body ?? undefined)
    expect(JSON.parse(text)).toMatchObject({ type: 'about:blank', status })
    expect(text).not.toContain('4242')
  })
})
