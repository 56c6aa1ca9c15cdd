/** Idempotency over HTTP, for those who write an adapter: the key, the fingerprint, the kept answer, the problem documents. */
export type { Secret } from '../core/fingerprint.ts'
export { type Answer, type AnswerCodecOptions, answerCodec, headOf } from './answer.ts'
export { acceptableAnswer } from './content-coding.ts'
export { answerFromError } from './error-answer.ts'
export { type Exchange, type Handled, withExtra } from './exchange.ts'
export { handle } from './handle.ts'
export { type HeldResponse, type HoldOptions, holdResponse } from './held-response.ts'
export { type Inside, inside } from './inside.ts'
export { type HeaderLine, KEPT_HEADERS, neverKept } from './kept-headers.ts'
export { KEY_HEADER, type KeyFault, type KeyOptions, type KeySource, type ReadKey, readKey } from './key-header.ts'
export { isProtected, notProtected } from './not-protected.ts'
export type { IdempotencyOptions, KeyCarrier, Scope } from './options.ts'
export { policies } from './policies.ts'
export {
  type Condition,
  PROBLEM_TYPES,
  type Problem,
  type ProblemDocument,
  type ProblemOptions,
  problemAnswer,
  problemFor,
  retryAfterSeconds,
} from './problem.ts'
export { CONDITIONS, type ConditionKind } from './problem-conditions.ts'
export type { Produced, Streams } from './produced.ts'
export {
  openApiFragment,
  type PublishedPolicy,
  policyHeader,
  publishedPolicy,
  WELL_KNOWN_PATH,
  wellKnownPolicy,
} from './published.ts'
export {
  COMPARED_PARTS,
  type ComparedRequest,
  type Comparison,
  judgeComparison,
  type RequestBody,
  type RequestFingerprintOptions,
  requestFingerprint,
} from './request-fingerprint.ts'
export { type Rules, rulesOf } from './rules.ts'
