/** A route's rules, published: as a header, in a well-known document, and as a fragment of an OpenAPI description. */
import { milliseconds } from '../core/clock.ts'
import { MAX_PART_LENGTH } from '../core/operation.ts'
import { DEFAULTS } from '../core/policy.ts'
import type { Grant } from '../core/store.ts'
import { KEY_HEADER } from './key-header.ts'
import type { IdempotencyOptions } from './options.ts'
import { PROBLEM_TYPES } from './problem.ts'
import { CONDITIONS } from './problem-conditions.ts'

/** Where `wellKnownPolicy` is served: RFC 8615 wants a registered name there, and a vendor's own does no harm. */
export const WELL_KNOWN_PATH = '/.well-known/idempotency-policy'

export interface PublishedPolicy {
  readonly name?: string
  readonly carrier: { readonly in: 'header' | 'body' | 'query'; readonly name: string }
  readonly required: boolean
  readonly methods: readonly string[]
  readonly max_length: number
  readonly retention_seconds: number
  readonly mode: 'transaction' | 'lease'
  readonly kept: string
}

export function publishedPolicy<C, G extends Grant>(options: IdempotencyOptions<C, G>): PublishedPolicy {
  const { key = {}, required = true, methods = ['POST', 'PATCH'], policy = {}, store, name } = options
  const carrier =
    'body' in key
      ? ({ in: 'body', name: key.body } as const)
      : 'query' in key
        ? ({ in: 'query', name: key.query } as const)
        : ({ in: 'header', name: key.header ?? KEY_HEADER } as const)
  const retainMs =
    policy.retain === undefined ? (store.defaults.retainMs ?? DEFAULTS.retainMs) : milliseconds(policy.retain, 'retain')
  return {
    ...(name === undefined ? {} : { name }),
    carrier,
    required,
    methods,
    max_length: ('maxLength' in key ? key.maxLength : undefined) ?? MAX_PART_LENGTH,
    retention_seconds: Math.floor(retainMs / 1_000),
    mode: store.mode,
    kept:
      store.mode === 'transaction'
        ? 'Answers below 500. A 5xx was rolled back, and the same key runs again.'
        : 'Answers below 500. After a 5xx the same key is safe; whether it runs again depends on what is known of the first.',
  }
}

/** One line (RFC 9651 Dictionary): `required, max-length=255, retention=86400`. */
export function policyHeader<C, G extends Grant>(options: IdempotencyOptions<C, G>): string {
  const { required, max_length, retention_seconds } = publishedPolicy(options)
  return `required=${required ? '?1' : '?0'}, max-length=${max_length}, retention=${retention_seconds}`
}

/** The document to serve at `WELL_KNOWN_PATH`. */
export function wellKnownPolicy(routes: Readonly<Record<string, PublishedPolicy>>): {
  readonly problem_types: string
  readonly routes: Readonly<Record<string, PublishedPolicy>>
} {
  return { problem_types: PROBLEM_TYPES, routes }
}

/** Parameters and responses to merge into an OpenAPI 3 operation. */
export function openApiFragment(policy: PublishedPolicy): {
  readonly parameters: readonly object[]
  readonly responses: Readonly<Record<string, object>>
  readonly 'x-idempotency': PublishedPolicy
} {
  const { carrier, required, max_length } = policy
  const codes = ['missing-key', 'in-progress', 'key-reused', 'store-unavailable'] as const
  const problem = { 'application/problem+json': { schema: { type: 'object' } } }
  return {
    parameters:
      carrier.in === 'body'
        ? []
        : [
            {
              name: carrier.name,
              in: carrier.in,
              required,
              schema: { type: 'string', minLength: 1, maxLength: max_length },
              description: 'One unique value for the operation, the same on every attempt.',
            },
          ],
    responses: Object.fromEntries(
      codes.map((code) => [
        String(CONDITIONS[code].status),
        { description: CONDITIONS[code].title.replaceAll('{header}', carrier.name), content: problem },
      ]),
    ),
    'x-idempotency': policy,
  }
}
