/** What is kept, what a failure means and how long things last: written by people, filled in once per attempt. */
import { type Duration, milliseconds } from './clock.ts'
import { OncekeyError } from './errors.ts'
import type { FinishedRecord } from './record.ts'

/** What follows a failure. In lease mode the choice is required: only the owner of an operation knows if a re-run is safe. */
export interface AfterFailure {
  /** The work threw: `free` the key (proven: nothing happened), `retry` (the next attempt may run), or `hold` it as unknown. */
  readonly onFailure: 'free' | 'retry' | 'hold'
  /** The owner vanished: the next caller takes over after the lease, or the outcome is held as unknown. */
  readonly onAbandoned: 'takeover' | 'hold'
  /** How long the downstream remembers our keys, counted from the first claim; past it nothing is re-run. */
  readonly dedupesFor?: Duration
}

/** The policy with every duration in milliseconds, as stores want it. */
export interface StorePolicy {
  readonly onFailure: AfterFailure['onFailure']
  readonly onAbandoned: AfterFailure['onAbandoned']
  readonly dedupesForMs?: number
  /** How long a finished record answers, counted from when it finished. */
  readonly retainMs: number
  /** How much longer than that its key stays bound to its request, without the answer. */
  readonly tombstoneMs?: number
  /** How long the work may take before its signal aborts. */
  readonly workMs: number
  /** How long a claim is honoured without a beat. Never derived from the retention. */
  readonly leaseMs: number
  readonly rerunnable: boolean
  readonly discardable: boolean
}

export type Judgement = 'keep' | 'keep-undone' | 'spend' | 'free' | 'retry' | 'hold'

/** How the work ended. */
export type End<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown }

export interface Policy<T> {
  readonly retain?: Duration
  /** How long after that a tombstone (identity, fingerprint, status) answers that it happened. Default: none is left. */
  readonly tombstone?: Duration
  /**
   * What becomes of an unknown key that says itself (UUIDv7, ULID) that it is older than everything the store
   * remembers: its answer may have been forgotten. Default `run`; `refuse` answers `key-too-old`.
   */
  readonly oldKeys?: 'run' | 'refuse'
  /** How far a caller's clock may be behind before its keys count as too old. Default 5m. */
  readonly clockSkew?: Duration
  readonly work?: Duration
  readonly lease?: Duration
  /** How long a duplicate waits for the first to end before it is told `busy`. Default 0: it is told at once. */
  readonly wait?: Duration
  /** A receipt of more bytes than this is not kept (the operation stays spent). Default 1 MiB. */
  readonly maxBytes?: number
  /** Wins over the store's own. */
  readonly after?: AfterFailure
  /** The work has no effect outside its transaction, so that a lost race for it may be run again (transaction mode). */
  readonly rerunnable?: boolean
  /** Writes may be undone while the answer is kept, also through libraries where a savepoint costs a flight. */
  readonly discardable?: boolean
  /** `onFailure` is what the route or its store chose for a failure; only lease mode asks for it. */
  judge?(end: End<T>, mode: 'transaction' | 'lease', onFailure: AfterFailure['onFailure']): Judgement
  /** What is kept of a throw; without it a throw that is kept leaves no answer (`spend`). */
  fromError?(error: unknown): T
  /** What is kept instead of the value: personal data taken out, say. Repeats get that; this caller gets the value. */
  redact?(value: T): T
  /** The last word on a replay: PayPal's latest status instead of the stored answer. */
  replay?(value: T, record: FinishedRecord): T | Promise<T>
}

/** The provider we call remembers our keys for this long: a failure may be tried again, an abandoned claim taken over. */
export function downstreamDedupes(options: { readonly for: Duration }): AfterFailure {
  return { onFailure: 'retry', onAbandoned: 'takeover', dedupesFor: options.for }
}

/** The provider we call does not deduplicate: whoever fails or vanishes leaves an unknown outcome, for people to settle. */
export const downstreamDoesNot: AfterFailure = { onFailure: 'hold', onAbandoned: 'hold' }

/** All effects are writes of one transaction: what failed was rolled back, so nothing happened. */
export const databaseOnly: AfterFailure = { onFailure: 'free', onAbandoned: 'takeover' }

const DAY = 86_400_000
export const DEFAULTS = {
  /** Stripe's API v1 keeps keys for at least 24 hours; most callers' retries end before that. */
  retainMs: DAY,
  /** Longer than any sane request, shorter than most proxies' patience. */
  workMs: 30_000,
  leaseMs: 30_000,
  /** Phones and cheap servers are minutes off at times. */
  clockSkewMs: 300_000,
  /** http.md's default for a kept body. */
  maxBytes: 1_048_576,
} as const

/** Route over `after` over the store's defaults. Throws `INVALID_OPTION` for durations that cannot be meant. */
export function fillPolicy<T>(policy: Policy<T>, defaults: Partial<StorePolicy>): StorePolicy {
  const { after } = policy
  const dedupesForMs = after ? after.dedupesFor && milliseconds(after.dedupesFor, 'dedupesFor') : defaults.dedupesForMs
  const tombstoneMs =
    policy.tombstone === undefined ? defaults.tombstoneMs : milliseconds(policy.tombstone, 'tombstone')
  const filled = {
    onFailure: after?.onFailure ?? defaults.onFailure ?? 'hold',
    onAbandoned: after?.onAbandoned ?? defaults.onAbandoned ?? 'hold',
    ...(dedupesForMs === undefined ? {} : { dedupesForMs }),
    retainMs:
      policy.retain === undefined ? (defaults.retainMs ?? DEFAULTS.retainMs) : milliseconds(policy.retain, 'retain'),
    ...(tombstoneMs === undefined || tombstoneMs === 0 ? {} : { tombstoneMs }),
    workMs: policy.work === undefined ? (defaults.workMs ?? DEFAULTS.workMs) : milliseconds(policy.work, 'work'),
    leaseMs: policy.lease === undefined ? (defaults.leaseMs ?? DEFAULTS.leaseMs) : milliseconds(policy.lease, 'lease'),
    rerunnable: policy.rerunnable ?? defaults.rerunnable ?? false,
    discardable: policy.discardable ?? defaults.discardable ?? false,
  } satisfies StorePolicy
  for (const name of ['retainMs', 'workMs', 'leaseMs'] as const) if (filled[name] < 1) tooShort(name)
  return filled
}

function tooShort(name: string): never {
  throw new OncekeyError('INVALID_OPTION', {
    what: `${name.slice(0, -2)} is zero.`,
    where: 'policy',
    why: 'An answer that is over before it is kept, or a claim that nobody has to honour, protects nothing.',
    fix: 'Give at least 1 ms; 24h of retention, 30s of work and of lease are the defaults.',
  })
}
