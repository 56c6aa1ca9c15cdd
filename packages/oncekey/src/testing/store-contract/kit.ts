/** What every rule of the store contract has at hand: fresh operations, attempts, owners that wait or vanish, and time. */
import assert from 'node:assert/strict'
import { sleep } from '../../core/clock.ts'
import type { Operation } from '../../core/operation.ts'
import { type AfterFailure, fillPolicy, type Policy } from '../../core/policy.ts'
import type { Attempted, Grant, Store, Verdict } from '../../core/store.ts'
import { deferred } from './deferred.ts'
import type { Behind, Capabilities, Effects, Faults, Make, Settings, Subject } from './subject.ts'

export type Work = (grant: Grant) => Verdict | Promise<Verdict>
export interface Attempting {
  readonly store?: Store
  readonly policy?: Policy<unknown>
}
/** An owner at work: its grant, and the way to end its work. */
export interface Owner {
  readonly grant: Grant
  readonly ended: Promise<Attempted>
  end(verdict: Verdict | Work): Promise<Attempted>
}

export interface Kit {
  readonly capabilities: Capabilities
  readonly store: Store
  readonly faults: Faults
  readonly effects: Effects<Grant>
  readonly behind: Behind<Grant>
  /** A lease that is long where time is moved, and short where it is waited for. */
  readonly leaseMs: number
  readonly retainMs: number
  /** A new store with these settings, in place of the one that every rule starts with. */
  fresh(settings: Partial<Settings>): Promise<void>
  another(settings?: Partial<Settings>): Promise<Store>
  reopen(): Promise<Store>
  damage(id: string): Promise<void>
  sever(): Promise<void>
  /** Makes the store's time pass. */
  pass(ms: number): Promise<void>
  /** A key that no other rule has. */
  operation(parts?: Partial<Operation>): Operation
  attempt(operation: Operation, work?: Work, attempting?: Attempting): Promise<Attempted>
  /** Resolves once the work has begun. */
  own(operation: Operation, attempting?: Attempting): Promise<Owner>
  /** An owner whose beats do not arrive, as if its process had been stopped. */
  ownSilently(operation: Operation, attempting?: Attempting): Promise<Owner>
  /** Ends what the rule left running, and the subject. */
  end(): Promise<void>
}

export const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list)
export const text = (words: string): Uint8Array => new TextEncoder().encode(words)
export const keep = (receipt: Uint8Array = text('first')): Verdict => ({ kind: 'keep', receipt, writes: 'commit' })

/** The work of a repeat that has to get an answer instead. */
export const neverRuns: Work = () => assert.fail('the work ran, and must not have')

const TAKEOVER: AfterFailure = { onFailure: 'retry', onAbandoned: 'takeover' }
/** A busy machine may keep a healthy store from answering for a while; rules about stores that hang ask for less. */
const PATIENCE_MS = 3_000
let keys = 0
const run = Math.random().toString(36).slice(2, 10)

export async function createKit(make: Make, capabilities: Capabilities): Promise<Kit> {
  const moved = capabilities.clock === 'moved'
  const leaseMs = moved ? 30_000 : 600
  const retainMs = moved ? 3_600_000 : 60_000
  const defaults: Settings = { ...TAKEOVER, lease: leaseMs, retain: retainMs, claimMs: PATIENCE_MS, drain: 250 }
  const gates: (() => void)[] = []
  const running: Promise<unknown>[] = []
  const opened: Store[] = []
  let subject: Subject = await make(defaults)

  function has<K extends keyof Subject>(name: K): NonNullable<Subject[K]> {
    const part = subject[name]
    if (part === undefined) throw new Error(`the capabilities promise what the subject lacks: ${String(name)}`)
    return part as NonNullable<Subject[K]>
  }

  async function attempt(operation: Operation, work: Work = () => keep(), attempting: Attempting = {}) {
    const { store = subject.store, policy = {} } = attempting
    const how = { policy: fillPolicy(policy, store.defaults), repeatable: true }
    const attempted = store.attempt(operation, how, async (grant) => work(grant))
    running.push(attempted.catch(() => undefined))
    return attempted
  }

  async function own(operation: Operation, attempting: Attempting = {}): Promise<Owner> {
    const begun = deferred<Grant>()
    const gate = deferred<Verdict | Work>()
    gates.push(() => gate.resolve({ kind: 'hold', why: 'the rule has ended' }))
    const ended = attempt(
      operation,
      async (grant) => {
        begun.resolve(grant)
        const verdict = await gate.promise
        return typeof verdict === 'function' ? verdict(grant) : verdict
      },
      attempting,
    )
    const early = ended.then((attempted) => assert.fail(`the work never began: ${attempted.kind}`))
    early.catch(() => undefined)
    const grant = await Promise.race([begun.promise, early])
    return {
      grant,
      ended,
      end(verdict) {
        gate.resolve(verdict)
        return ended
      },
    }
  }

  return {
    capabilities,
    get store() {
      return subject.store
    },
    get faults() {
      return has('faults')
    },
    get effects() {
      return has('effects')
    },
    get behind() {
      return has('behind')
    },
    leaseMs,
    retainMs,
    async fresh(settings) {
      await subject[Symbol.asyncDispose]()
      subject = await make({ ...defaults, ...settings })
    },
    async another(settings = {}) {
      const store = await has('another').call(subject, { ...defaults, ...settings })
      opened.push(store)
      return store
    },
    reopen: async () => has('reopen').call(subject),
    damage: async (id) => has('damage').call(subject, id, 'unknown-state'),
    sever: async () => has('sever').call(subject),
    pass: async (ms) => (moved ? has('advance').call(subject, ms) : sleep(ms)),
    operation(parts = {}) {
      return { scope: ['contract', run], key: `key-${++keys}`, fingerprints: ['body'], ...parts }
    },
    attempt,
    own,
    async ownSilently(operation, attempting) {
      // Where time is moved no beat comes in between: beats are sent by the owner's own clock.
      if (!moved) has('faults').befall('renew', 'refuse', 1_000)
      return own(operation, attempting)
    },
    async end() {
      subject.faults?.mend()
      for (const open of gates) open()
      await Promise.race([Promise.all(running), sleep(2_000)])
      for (const store of opened) await store[Symbol.asyncDispose]()
      await subject[Symbol.asyncDispose]()
    },
  }
}
