/** The engine: one operation, named by (scope, key), runs once; every repeat gets its answer. */
import { refuseAbsent } from './absent.ts'
import { milliseconds, monotonic, sleep } from './clock.ts'
import { tell } from './events.ts'
import { unnested } from './nesting.ts'
import { type Identity, identify, type Label, type Operation } from './operation.ts'
import { DEFAULTS, type End, fillPolicy, type Judgement, type Policy } from './policy.ts'
import { type Codec, valueCodec } from './receipt.ts'
import type { FinishedRecord, KeyRecord, Refused } from './record.ts'
import type { Attempted, Fate, Grant, Store, Verdict } from './store.ts'
import { verdictOf } from './verdict.ts'

export type Outcome<T> =
  /** It ran here, now. */
  | { readonly kind: 'ran'; readonly value: T; readonly fate: Exclude<Fate, 'held'> }
  /** It ran before; this is its answer. */
  | { readonly kind: 'replayed'; readonly value: T; readonly record: FinishedRecord }
  /** It ran before; its answer was not kept, or cannot be read. It is not run again. */
  | { readonly kind: 'not-kept'; readonly record: FinishedRecord }
  /** The first is still running. */
  | { readonly kind: 'busy'; readonly retryAfterMs: number }
  /** The key belongs to another request. */
  | { readonly kind: 'mismatch' }
  /** Nobody knows what happened; it is not run again until somebody settles it. */
  | { readonly kind: 'unknown'; readonly record: KeyRecord }

export interface OnceOptions<T> {
  readonly codec?: Codec<T>
  readonly policy?: Policy<T>
  /** Ends waiting for another attempt (with `busy`); never work that has begun. */
  readonly signal?: AbortSignal
  /** False where the work cannot be started a second time (middleware). Default true. */
  readonly repeatable?: boolean
  /** The application's name in child keys, where several share a downstream account. */
  readonly namespace?: string
}

/**
 * Runs `work` if nobody has, and answers with what the first run answered if somebody has. An error that the work
 * threw is thrown again once the attempt has ended in the store, whatever became of the key.
 *
 * @throws `INVALID_SCOPE`, `INVALID_KEY`, `INVALID_FINGERPRINT` before anything else; `KEY_TOO_OLD` (it did not run; whether it
 * did earlier is not known) where the policy says `oldKeys: 'refuse'`; `STORE_UNAVAILABLE` (the work did
 * not run and will not), `TRY_AGAIN` (rolled back, the key is free), `COMMIT_UNKNOWN` and `OUTCOME_UNKNOWN` (the same key is safe).
 */
export async function once<T, G extends Grant>(
  store: Store<G>,
  operation: Operation,
  work: (grant: G) => Promise<T>,
  options: OnceOptions<T> = {},
): Promise<Outcome<T>> {
  const { codec = valueCodec<T>(), policy = {}, signal, repeatable = true, namespace } = options
  const identity = identify(operation)
  const filled = fillPolicy(policy, store.defaults)
  const how = {
    policy: filled,
    repeatable,
    ...(signal ? { signal } : {}),
    ...(namespace === undefined ? {} : { namespace }),
  }
  let end: End<T> | undefined

  async function run(grant: G): Promise<Verdict> {
    const onThrow = store.mode === 'transaction' ? 'free' : filled.onFailure
    let judgement: Judgement
    end = await endOf(() => work(grant))
    try {
      judgement = policy.judge?.(end, store.mode, filled.onFailure) ?? (end.kind === 'returned' ? 'keep' : onThrow)
    } catch (error) {
      // A judge that throws has not judged: its error is what the caller gets, and nothing of the work is answered.
      end = { kind: 'threw', error }
      judgement = onThrow
    }
    return verdictOf(end, judgement, {
      codec,
      policy,
      operation: identity.label,
      tombstone: filled.tombstoneMs !== undefined,
      maxBytes: Math.min(policy.maxBytes ?? DEFAULTS.maxBytes, store.maxBytes ?? Infinity),
    })
  }

  const lost = await refuseAbsent(store, identity, { ...policy, policy: filled })
  if (lost) return lost
  const attempted = await unnested(store, identity.id, () =>
    attemptPatiently(() => store.attempt(operation, how, run), policy, signal),
  )
  const facts = {
    store: store.name,
    mode: store.mode,
    id: identity.id,
    ...(operation.name === undefined ? {} : { name: operation.name }),
  }
  if (attempted.kind !== 'won') return answer(attempted, { codec, policy, facts, operation: identity.label })
  if (end === undefined) throw new TypeError(`the store ${store.name} says that the work ran, and it did not`)
  if (end.kind === 'threw') throw end.error
  if (attempted.fate === 'held') return { kind: 'unknown', record: heldRecord(identity) }
  return { kind: 'ran', value: end.value, fate: attempted.fate }
}

/** How the work ended, also where it throws before it has given a promise. */
async function endOf<T>(work: () => Promise<T>): Promise<End<T>> {
  try {
    return { kind: 'returned', value: await work() }
  } catch (error) {
    return { kind: 'threw', error }
  }
}

/** A duplicate that may wait attempts again, with back-off and jitter, and holds nothing meanwhile. */
async function attemptPatiently<T>(
  attempt: () => Promise<Attempted>,
  policy: Policy<T>,
  signal?: AbortSignal,
): Promise<Attempted> {
  const waitMs = policy.wait === undefined ? 0 : milliseconds(policy.wait, 'wait')
  const started = monotonic()
  for (let pause = 25; ; pause = Math.min(pause * 2, 1_000)) {
    const attempted = await attempt()
    const left = waitMs - (monotonic() - started)
    if (attempted.kind !== 'busy' || attempted.afterWork || left <= 0 || signal?.aborted) {
      if (waitMs > 0 && pause > 25) tell('waited', { ms: monotonic() - started })
      return attempted
    }
    await sleep(Math.min(left, pause * (0.5 + Math.random() / 2)), signal)
    if (signal?.aborted) return attempted
  }
}

interface Answering<T> {
  readonly codec: Codec<T>
  readonly policy: Policy<T>
  readonly facts: Parameters<typeof tell>[1]
  readonly operation: Label
}

async function answer<T>(refused: Refused, { codec, policy, facts, operation }: Answering<T>): Promise<Outcome<T>> {
  switch (refused.kind) {
    case 'mismatch':
      tell('mismatch', facts)
      return { kind: 'mismatch' }
    case 'busy':
      tell('busy', facts)
      return { kind: 'busy', retryAfterMs: refused.retryAfterMs }
    case 'unknown':
      return { kind: 'unknown', record: refused.record }
    case 'finished': {
      const { record } = refused
      if (record.receipt === undefined) return { kind: 'not-kept', record }
      let value: T
      try {
        value = await codec.decode(record.receipt, operation)
      } catch (error) {
        tell('unreadable', { ...facts, error })
        return { kind: 'not-kept', record }
      }
      tell('replayed', facts)
      return { kind: 'replayed', value: policy.replay ? await policy.replay(value, record) : value, record }
    }
    default:
      throw refused satisfies never
  }
}

function heldRecord({ id, label }: Identity): KeyRecord {
  return { id, ...label, state: 'unknown' }
}
