/** Decides who runs, within a second: a claim whose reply is lost is sent again, one that comes too late is given back. */
import { monotonic, sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { type OncekeyEvent, tell } from '../../core/events.ts'
import { judge, type Refused, type Seen } from '../../core/record.ts'
import type { Held, LeaseDriver, Owned } from '../../core/store.ts'
import type { Pulse } from '../pulse.ts'
import { storeUnavailable } from './faults.ts'
import { insist, TOO_LATE, whileHeard } from './patience.ts'

export interface Claiming {
  readonly driver: LeaseDriver<unknown>
  readonly wanted: Owned
  readonly facts: Omit<OncekeyEvent, 'event'>
  readonly claimMs: number
  /** Claims wait for as long as the store answers other claims. */
  readonly pulse: Pulse
  /** The same execution may come for its claim again, so that an orphan of it is left to it. */
  readonly reenters: boolean
  /** Takes what goes on after the caller was answered. */
  readonly background: (rest: Promise<unknown>) => void
}
export interface Won {
  readonly kind: 'won'
  readonly held: Held
  /** Before the send that won, on the monotonic clock: the lease counts from here (L2). */
  readonly sentAt: number
  readonly takenOver: boolean
  /** No record of an earlier attempt stood there. */
  readonly fresh: boolean
}

/** Rejects with `STORE_UNAVAILABLE` when the store says nothing for `claimMs`; then the work does not run later either. */
export async function claim(claiming: Claiming): Promise<Won | Refused> {
  const { driver, claimMs, pulse, facts, background } = claiming
  const lost: unknown[] = []
  const deciding = decide(claiming, monotonic() + claimMs, lost)
  try {
    const decided = await whileHeard(deciding, claimMs, pulse)
    if (decided !== TOO_LATE) return decided
  } catch (error) {
    if (isOncekeyError(error)) throw error
  }
  background(
    deciding.then(
      (late) => giveBack(claiming, late),
      () => giveBack(claiming),
    ),
  )
  const cause = lost.at(-1)
  tell('store-failed', { ...facts, why: 'claim', ...(cause === undefined ? {} : { error: cause }) })
  throw storeUnavailable(driver.name, cause)
}

async function decide({ driver, wanted, pulse }: Claiming, until: number, lost: unknown[]): Promise<Won | Refused> {
  let seen: Seen = { kind: 'absent' }
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const sentAt = monotonic()
    try {
      const claimed = await driver.claim(wanted)
      pulse.beat()
      if (claimed.kind === 'won') {
        const { fence, takenOver = false, fresh = false } = claimed
        return { kind: 'won', held: { ...wanted, fence }, sentAt, takenOver, fresh }
      }
      seen = claimed
      const judged = judge(seen, wanted.prints, wanted.token)
      if (judged.kind === 'own') {
        const reentered = await reenter(driver, wanted, seen)
        if (reentered) return { ...reentered, sentAt }
      } else if (judged.kind !== 'runnable' && judged.kind !== 'abandoned') return judged
    } catch (error) {
      // What the store itself says in our words is definite; anything else is a reply that was lost.
      if (isOncekeyError(error)) throw error
      lost.push(error)
      if (monotonic() >= until) throw error
    }
    // Runnable, and yet not ours: others are at it in the same instant. Never a fault of the store.
    if (monotonic() >= until) return { kind: 'busy', ageMs: 0, retryAfterMs: 0 }
    await sleep(pause * (0.5 + Math.random() / 2))
  }
}

/** S2: a claim that finds its own token has won, with the same fence. */
async function reenter(driver: LeaseDriver<unknown>, wanted: Owned, seen: Seen): Promise<Omit<Won, 'sentAt'> | false> {
  if (seen.kind === 'absent' || seen.record.fence === undefined) return false
  const held = { ...wanted, fence: seen.record.fence }
  return (await driver.renew(held)) === 'done' && { kind: 'won', held, takenOver: false, fresh: false }
}

/**
 * The caller was told that nothing ran, and nothing did. Only a claim that met no earlier attempt may be freed: over
 * an earlier one's record the key goes back to `open`, which keeps its fingerprint and its `dedupes until`.
 */
async function giveBack({ driver, wanted, facts, reenters }: Claiming, late?: Won | Refused): Promise<void> {
  if (reenters || (late && late.kind !== 'won')) return
  const insisting = {
    until: monotonic() + wanted.policy.leaseMs,
    patienceMs: 5_000,
    missed: (error: unknown) => tell('store-failed', { ...facts, why: 'orphan', error }),
  }
  const held = late?.held ?? (await findOrphan(driver, wanted, insisting))
  if (!held) return
  const to = late?.fresh ? 'free' : 'retry'
  const answer = await insist(() => driver.release(held, to), insisting)
  if (answer === 'done') tell(to === 'free' ? 'freed' : 'reopened', { ...facts, fence: held.fence, why: 'orphan' })
}

async function findOrphan(
  driver: LeaseDriver<unknown>,
  wanted: Owned,
  insisting: Parameters<typeof insist>[1],
): Promise<Held | undefined> {
  // A statement whose reply was lost may still be on its way.
  await sleep(Math.min(1_000, wanted.policy.leaseMs / 3))
  const seen = await insist(() => driver.read(wanted.id), insisting)
  if (seen === TOO_LATE || seen.kind === 'absent' || seen.token !== wanted.token) return undefined
  const { fence, state } = seen.record
  return fence === undefined || state === 'finished' ? undefined : { ...wanted, fence }
}
