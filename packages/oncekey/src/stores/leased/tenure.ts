/** An owner's time in office: beats at a third of the lease, its own deadline, and the signal that says when it is over. */
import { monotonic, sleep } from '../../core/clock.ts'
import { type OncekeyEvent, tell } from '../../core/events.ts'
import { judge, type Seen } from '../../core/record.ts'
import type { Held, LeaseDriver } from '../../core/store.ts'
import { leaseLapsed, ownershipLost } from './faults.ts'
import { within } from './patience.ts'

export interface Owner<Tx = unknown> {
  readonly driver: LeaseDriver<Tx>
  readonly held: Held
  readonly facts: Omit<OncekeyEvent, 'event'>
  /** How long one answer of the store is waited for. */
  readonly claimMs: number
  /** When the claim that won was sent, on the monotonic clock. */
  readonly sentAt: number
  /** When the work has to have ended, on the monotonic clock. */
  readonly workEndsAt: number
}
export interface Tenure {
  readonly signal: AbortSignal
  /** True once a beat was refused: somebody else owns the record, or nobody does. */
  lost(): boolean
  /** Throws `LEASE_LAPSED` past the owner's own deadline, until a beat succeeds (L2). */
  mayCall(): void
  abort(reason: unknown): void
  /** Ends the beats, and waits for the one in flight: a beat must not pass a later write on its way. */
  stop(): Promise<void>
}

export function takeOffice({ driver, held, facts, claimMs, sentAt }: Owner): Tenure {
  const { leaseMs } = held.policy
  const intervalMs = Math.max(1, leaseMs / 3)
  const ending = new AbortController()
  const work = new AbortController()
  let deadline = sentAt + leaseMs
  let lost = false
  let inFlight: Promise<void> = Promise.resolve()

  function heard(answer: 'done' | Seen, beatSentAt: number): void {
    if (answer === 'done') deadline = Math.max(deadline, beatSentAt + leaseMs)
    else if (!lost && judge(answer, held.prints, held.token).kind !== 'own') {
      lost = true
      tell('lease-lost', facts)
      ending.abort(null)
      work.abort(ownershipLost(driver.name, held.id))
    }
  }

  async function beat(): Promise<boolean> {
    const beatSentAt = monotonic()
    try {
      heard(await driver.renew(held), beatSentAt)
      return true
    } catch (error) {
      tell('store-failed', { ...facts, why: 'beat', error })
      return false
    }
  }

  async function keepBeating(): Promise<void> {
    for (let pause = intervalMs - (monotonic() - sentAt); ; ) {
      await sleep(Math.max(0, pause), ending.signal)
      if (ending.signal.aborted) return
      const beating = beat()
      inFlight = beating.then(() => undefined)
      // A beat that hangs must not silence the next one.
      const heardInTime = await within(beating, intervalMs)
      // One without a reply is no loss yet (L2): there is time for several before the deadline.
      pause = heardInTime === true ? intervalMs : intervalMs / 4
    }
  }

  void keepBeating()
  return {
    signal: work.signal,
    lost: () => lost,
    mayCall() {
      if (lost) throw ownershipLost(driver.name, held.id)
      if (monotonic() >= deadline) throw leaseLapsed(driver.name, held.id)
    },
    abort: (reason) => work.abort(reason),
    async stop() {
      ending.abort(null)
      await within(inFlight, claimMs)
    },
  }
}
