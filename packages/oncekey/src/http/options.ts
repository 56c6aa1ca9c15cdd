/** What a protected route says about itself: the same words in every adapter; only the context that its functions see differs. */
import type { Duration } from '../core/clock.ts'
import type { Judgement, Policy } from '../core/policy.ts'
import type { FinishedRecord } from '../core/record.ts'
import type { Keyring } from '../core/sealed.ts'
import type { Grant, Store } from '../core/store.ts'
import type { Answer } from './answer.ts'
import type { KeyOptions } from './key-header.ts'
import type { ProblemOptions } from './problem.ts'
import type { Streams } from './produced.ts'
import type { RequestFingerprintOptions } from './request-fingerprint.ts'

/** Who the key belongs to. Nothing (`undefined`, `null`, `''`) is answered `missing-scope`, never a bucket that strangers share. */
export type Scope = string | readonly (string | null | undefined)[] | null | undefined

/** Where the key stands, if not in a header. */
export type KeyCarrier =
  | (KeyOptions & { readonly header?: string })
  /** A member of a JSON body, by JSON Pointer (Square's `/idempotency_key`). */
  | { readonly body: string }
  /** A parameter of the query (AWS's `ClientToken`). */
  | { readonly query: string }

export interface IdempotencyOptions<C, G extends Grant> {
  readonly store: Store<G>
  /** The stable subject or tenant, from what authentication has put on the request; never a header that the client picks. */
  scope(context: C): Scope | Promise<Scope>
  readonly key?: KeyCarrier
  /** Methods that need a key. Default POST and PATCH; PUT and DELETE are protected where one is sent. */
  readonly methods?: readonly string[]
  /** False: a request without a key runs unprotected. One with an unusable key is refused all the same. Default true. */
  readonly required?: boolean
  /** What makes two requests the same one: left-out fields, secrets, versions. */
  readonly compare?: RequestFingerprintOptions
  /** What is kept and for how long. Default `policies.default`. */
  readonly policy?: Policy<Answer>
  /** Headers to keep besides the usual ones. */
  readonly keep?: readonly string[]
  /** Seals every answer that is kept, so that only holders of its keys can read it: see `sealed`. */
  readonly sealed?: Keyring
  /** What people call this kind of operation. Default method and path. */
  readonly name?: string
  readonly streams?: Streams
  /** The most that `Prefer: wait=N` is honoured for. Default 10 s; 0 turns it off. */
  readonly maxWait?: Duration
  /** Bytes of a request body. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** Decides for each request whether it is protected at all (GraphQL queries are not). Runs before the scope is asked for. */
  protect?(context: C): boolean | Promise<boolean>
  /** Decides for each answer whether it ends the operation; false counts as a failure. Default: the policy's judgement alone. */
  final?(answer: Answer): boolean | Judgement
  /** Re-checks, before a kept answer leaves, what the handler would have checked. False is answered 403. */
  authorizeReplay?(context: C, record: FinishedRecord): boolean | Promise<boolean>
  /** Adds `Access-Control-Expose-Headers` for what browsers need to see, to every answer, errors too. */
  readonly expose?: boolean
  /** Adds `Idempotency-Policy`, the route's rules in one line, to every answer. */
  readonly publish?: boolean
  readonly problems?: ProblemOptions
  /** The application's name in child keys. */
  readonly namespace?: string
}
