/** A route's options, judged once when it is set up, and made ready for every request. */
import { isOncekeyError, OncekeyError } from '../core/errors.ts'
import { DEFAULTS, type End, type Judgement, type Policy } from '../core/policy.ts'
import type { Codec } from '../core/receipt.ts'
import { sealed } from '../core/sealed.ts'
import type { Grant } from '../core/store.ts'
import { type Answer, answerCodec } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { HeaderLine } from './kept-headers.ts'
import { KEY_HEADER } from './key-header.ts'
import type { IdempotencyOptions, KeyCarrier } from './options.ts'
import { policies } from './policies.ts'
import type { ProblemOptions } from './problem.ts'
import type { Produced } from './produced.ts'
import { policyHeader } from './published.ts'
import { judgeComparison } from './request-fingerprint.ts'

export interface Rules<C, G extends Grant> {
  readonly options: IdempotencyOptions<C, G>
  readonly carrier: KeyCarrier
  readonly problems: ProblemOptions
  readonly codec: Codec<Produced>
  readonly policy: Policy<Produced>
  readonly maxBodyBytes: number
  /** Bytes of an answer that are held back and kept at most. */
  readonly maxAnswerBytes: number
  /** Headers of every answer of this route. */
  readonly extra: readonly HeaderLine[]
  needsKey(method: string): boolean
  nameOf(exchange: Pick<Exchange<C>, 'method' | 'target'>): string
}

/** Headers that a browser hides from scripts unless they are exposed. */
export const EXPOSED = 'Idempotent-Replayed, Idempotency-Key, Retry-After, Location, ETag, Link'

/** Room for status and headers, so that a body of exactly the limit is kept. */
const HEAD_ROOM = 65_536

/** Throws `INVALID_OPTION`. */
export function rulesOf<C, G extends Grant>(options: IdempotencyOptions<C, G>): Rules<C, G> {
  const { key: carrier = {}, compare, keep, store, policy = {}, methods = ['POST', 'PATCH'] } = options
  if (typeof options.scope !== 'function') throw scopeMissing()
  if (compare) judgeComparison(compare)
  const needing = new Set(methods.map((method) => method.toUpperCase()))
  const limit = policy.maxBytes ?? DEFAULTS.maxBytes
  const answers = answerCodec(keep ? { keep } : {})
  const header = 'header' in carrier ? (carrier.header ?? KEY_HEADER) : KEY_HEADER
  return {
    options,
    carrier,
    problems: { header, ...options.problems },
    codec: producedCodec(options.sealed ? sealed(answers, options.sealed) : answers),
    policy: producedPolicy(options, limit),
    maxBodyBytes: options.maxBodyBytes ?? 1_048_576,
    maxAnswerBytes: Math.min(limit, store.maxBytes ?? Infinity),
    extra: [
      ...(options.expose ? [['access-control-expose-headers', EXPOSED] as const] : []),
      ...(options.publish ? [['idempotency-policy', policyHeader(options)] as const] : []),
    ],
    needsKey: (method) => needing.has(method.toUpperCase()),
    nameOf: ({ method, target }) => options.name ?? `${method} ${target.replace(/[?#].*$/s, '')}`,
  }
}

function producedCodec(codec: Codec<Answer>): Codec<Produced> {
  return {
    refuses: ({ unkept }) => unkept,
    encode: ({ answer }, operation) => codec.encode(answer, operation),
    decode: async (receipt, operation) => ({ answer: await codec.decode(receipt, operation) }),
    head: ({ answer }) => codec.head?.(answer),
  }
}

function producedPolicy<C, G extends Grant>(options: IdempotencyOptions<C, G>, limit: number): Policy<Produced> {
  const { policy = {}, final } = options
  const { judge = policies.default.judge, fromError, redact, replay, ...rest } = policy
  const plain = (end: End<Answer>, mode: 'transaction' | 'lease', onFailure: 'free' | 'retry' | 'hold'): Judgement =>
    judge?.(end, mode, onFailure) ?? 'keep'

  return {
    ...rest,
    maxBytes: limit + HEAD_ROOM,
    judge(end, mode, onFailure) {
      if (end.kind === 'threw')
        return mode === 'transaction' && isOncekeyError(end.error, 'ANSWER_TOO_LARGE')
          ? 'free'
          : plain(end, mode, onFailure)
      const { answer, threw } = end.value
      if (threw && answer.status >= 500) return plain({ kind: 'threw', error: threw.error }, mode, onFailure)
      const verdict = final?.(answer) ?? true
      if (typeof verdict === 'string') return verdict
      if (!verdict) return mode === 'transaction' ? 'free' : onFailure
      const judgement = plain({ kind: 'returned', value: answer }, mode, onFailure)
      // The app made a 4xx of a throw: the caller's answer stands, and a throw undoes what was written before it.
      return threw && judgement === 'keep' ? 'keep-undone' : judgement
    },
    ...(redact ? { redact: (produced) => ({ ...produced, answer: redact(produced.answer) }) } : {}),
    ...(fromError ? { fromError: (error) => ({ answer: fromError(error) }) } : {}),
    ...(replay ? { replay: async (produced, record) => ({ answer: await replay(produced.answer, record) }) } : {}),
  }
}

function scopeMissing(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'The option `scope` is missing.',
    where: 'idempotent',
    why: 'Without it every caller shares one set of keys, and one gets the answer of another.',
    fix: 'Give a function that returns the authenticated subject or tenant of a request.',
  })
}
