/** The lease bracket: what turns any store with an atomic compare-and-set into one that runs an operation once. */
import { type Duration, milliseconds, monotonic } from '../core/clock.ts'
import { hex, lengthPrefixed, randomHex, sha256 } from '../core/digest.ts'
import { OncekeyError } from '../core/errors.ts'
import { tell } from '../core/events.ts'
import { identify, type Operation } from '../core/operation.ts'
import type { AfterFailure, StorePolicy } from '../core/policy.ts'
import type {
  Attempted,
  Collecting,
  Forgetful,
  How,
  LeaseDriver,
  Leased,
  LeasedInDatabase,
  Store,
  Verdict,
} from '../core/store.ts'
import { claim } from './leased/claim.ts'
import { executionLive, storeClosed } from './leased/faults.ts'
import { within } from './leased/patience.ts'
import type { Tenure } from './leased/tenure.ts'
import { run } from './leased/work.ts'
import { pulse } from './pulse.ts'

export interface LeasedOptions extends AfterFailure {
  /** How long a kept answer answers. Default 24h. */
  readonly retain?: Duration
  /** How long the work may take before its signal aborts and its outcome is held. Default 30s. */
  readonly work?: Duration
  /** How long a claim is honoured without a beat; a beat is sent at every third of it. Default 30s. */
  readonly lease?: Duration
  /** How long after its retention a tombstone answers that an operation happened. Default: none is left. */
  readonly tombstone?: Duration
  /** How long the store may say nothing before a claim is told that it is unavailable. Default 1 s. */
  readonly claimMs?: Duration
  /** How long a disposed store waits for work in progress before its signals abort. Default 10 s. */
  readonly drain?: Duration
}
export type BeginningDriver<Tx> = LeaseDriver<Tx> & Required<Pick<LeaseDriver<Tx>, 'begin'>>

export type CollectingDriver<Tx> = LeaseDriver<Tx> & Required<Pick<LeaseDriver<Tx>, 'collect'>>
export type ForgetfulDriver = LeaseDriver & Required<Pick<LeaseDriver, 'mayForget'>>

/** Disposing it stops claiming, drains, aborts what is left and disposes the driver. What may have run is never released. */
export function leased<Tx>(driver: BeginningDriver<Tx>, options: LeasedOptions): Store<LeasedInDatabase<Tx>>
export function leased<Tx>(driver: CollectingDriver<Tx>, options: LeasedOptions): Store<Collecting<Tx>>
export function leased(driver: ForgetfulDriver, options: LeasedOptions): Store<Forgetful>
export function leased(driver: LeaseDriver, options: LeasedOptions): Store<Leased>
export function leased<Tx>(driver: LeaseDriver<Tx>, options: LeasedOptions): Store<Leased> {
  const { name, admin, maxBytes } = driver
  const claimMs = milliseconds(options.claimMs ?? 1_000, 'claimMs')
  const drainMs = milliseconds(options.drain ?? 10_000, 'drain')
  const defaults = defaultsFrom(options)
  const live = new Set<Promise<unknown>>()
  const tenures = new Set<Tenure>()
  const executions = new Set<string>()
  const heard = pulse()
  let closing: Promise<void> | undefined

  function follow<T>(promise: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = promise.then(forget, forget)
    function forget(): void {
      live.delete(settled)
    }
    live.add(settled)
    return promise
  }

  async function attempt(
    operation: Operation,
    how: How,
    work: (grant: Leased) => Promise<Verdict>,
  ): Promise<Attempted> {
    const { id, prints, label } = identify(operation)
    if (closing) throw storeClosed(name)
    const { policy } = how
    const token = operation.execution === undefined ? randomHex(16) : executionToken(operation.execution)
    const named = operation.name === undefined ? {} : { name: operation.name }
    const facts = { store: name, mode: 'lease' as const, id, ...named }
    const leave = operation.execution === undefined ? () => {} : enter(`${id}/${token}`, id)
    let handedOver = false
    try {
      const wanted = { id, token, prints, policy, label }
      const reenters = operation.execution !== undefined
      const claimed = await claim({ driver, wanted, facts, claimMs, pulse: heard, reenters, background: follow })
      if (claimed.kind !== 'won') return claimed
      const { held, sentAt } = claimed
      const owned = { ...facts, fence: held.fence }
      if (claimed.takenOver) tell('taken-over', owned)
      tell('claimed', owned)
      const workEndsAt = monotonic() + policy.workMs
      const owner = { driver, held, facts: owned, claimMs, sentAt, workEndsAt }
      handedOver = true
      return await run({ owner, operation, how, work, background: follow, entered })
    } finally {
      if (!handedOver) leave()
    }

    function entered(tenure: Tenure): () => void {
      tenures.add(tenure)
      return () => {
        tenures.delete(tenure)
        leave()
      }
    }
  }

  /** S2: an execution may enter again, but not twice at a time. */
  function enter(execution: string, id: string): () => void {
    if (executions.has(execution)) throw executionLive(name, id)
    executions.add(execution)
    return () => executions.delete(execution)
  }

  async function close(): Promise<void> {
    await within(Promise.all(live), drainMs)
    for (const tenure of tenures) tenure.abort(storeClosed(name))
    await within(Promise.all(live), claimMs)
    await Promise.all([...tenures].map((tenure) => tenure.stop()))
    await driver[Symbol.asyncDispose]()
  }

  return {
    name,
    mode: 'lease',
    defaults,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(driver.restored ? { restored: () => driver.restored?.() ?? Promise.resolve(undefined) } : {}),
    attempt: (operation, how, work) => follow(attempt(operation, how, work)),
    admin,
    [Symbol.asyncDispose]() {
      closing ??= close()
      return closing
    },
  }
}

function executionToken(execution: string): string {
  return hex(sha256(lengthPrefixed('oncekey/execution/1', [execution])).subarray(0, 16))
}

function defaultsFrom({
  onFailure,
  onAbandoned,
  dedupesFor,
  retain,
  work,
  lease,
  tombstone,
}: LeasedOptions): Partial<StorePolicy> {
  if (onFailure === undefined || onAbandoned === undefined)
    throw new OncekeyError('INVALID_OPTION', {
      what: 'Nothing says what follows a failure.',
      where: 'lease mode',
      why: 'After a failure or a crash only the owner of an operation knows if running it again is safe.',
      fix: 'Give downstreamDedupes({ for }), downstreamDoesNot, databaseOnly, or onFailure and onAbandoned.',
    })
  return {
    onFailure,
    onAbandoned,
    ...(dedupesFor === undefined ? {} : { dedupesForMs: milliseconds(dedupesFor, 'dedupesFor') }),
    ...(retain === undefined ? {} : { retainMs: milliseconds(retain, 'retain') }),
    ...(work === undefined ? {} : { workMs: milliseconds(work, 'work') }),
    ...(lease === undefined ? {} : { leaseMs: milliseconds(lease, 'lease') }),
    ...(tombstone === undefined ? {} : { tombstoneMs: milliseconds(tombstone, 'tombstone') }),
  }
}
