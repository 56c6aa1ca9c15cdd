/** What is kept and what runs again, after the rules of well-known providers: one table, as policies. */
import type { End, Judgement, Policy } from '../core/policy.ts'
import type { Answer } from './answer.ts'
import { answerFromError } from './error-answer.ts'

type Mode = 'transaction' | 'lease'

/**
 * 2xx, 3xx and 4xx are answers, and kept. A 5xx or a throw is undone in transaction mode; in lease mode the policy's
 * `onFailure` says what follows, since only the operation's owner knows whether something had left.
 */
const defaultPolicy: Policy<Answer> = {
  judge(end, mode, onFailure) {
    return failed(end) ? (mode === 'transaction' ? 'free' : onFailure) : 'keep'
  },
}

/** Stripe API v1: the first answer is kept, whether it succeeded or failed, for at least 24 hours. */
const stripeV1: Policy<Answer> = { retain: '24h', discardable: true, judge: keepAll, fromError: answerFromError }

/** Stripe API v2: success is not repeated, whatever failed is executed again, 30 days. */
const stripeV2: Policy<Answer> = {
  retain: '30d',
  judge(end, mode) {
    return end.kind === 'threw' || end.value.status >= 400 ? again(mode) : 'keep'
  },
}

/** draft-ietf-httpapi-idempotency-key-header §2.6: the result of the completed operation, "success or an error". */
const ietf: Policy<Answer> = { discardable: true, judge: keepAll, fromError: answerFromError }

/**
 * PayPal: a retry after a 5xx executes; a repeat shows the latest status of what the first one made, which only the
 * application can look up.
 */
function paypal(latest: NonNullable<Policy<Answer>['replay']>): Policy<Answer> {
  return {
    judge(end, mode, onFailure) {
      return failed(end) ? (mode === 'transaction' ? 'free' : onFailure) : 'keep'
    },
    replay: latest,
  }
}

export const policies = { default: defaultPolicy, stripeV1, stripeV2, ietf, paypal } as const

/** A 5xx that was returned keeps its writes: the handler chose to answer. A throw chose nothing. */
function keepAll(end: End<Answer>, mode: Mode): Judgement {
  return end.kind === 'threw' && mode === 'transaction' ? 'keep-undone' : 'keep'
}

function failed(end: End<Answer>): boolean {
  return end.kind === 'threw' || end.value.status >= 500
}

/** Rolled back is proof that nothing happened; without one the key stays bound to its request. */
function again(mode: Mode): Judgement {
  return mode === 'transaction' ? 'free' : 'retry'
}
