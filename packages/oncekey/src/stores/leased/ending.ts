/** How a won claim ends: the verdict is written where the claim is still ours; else the record's own answer is given (L3, L4). */
import { monotonic, sleep } from '../../core/clock.ts'
import { type EventName, tell } from '../../core/events.ts'
import { judge, type Seen } from '../../core/record.ts'
import type { Attempted, Fate, Kept, OpenedTransaction, Verdict } from '../../core/store.ts'
import { isInDoubt } from '../database/database.ts'
import { outcomeUnknown } from './faults.ts'
import { insist, TOO_LATE, within } from './patience.ts'
import type { Owner } from './tenure.ts'

/** Longer than a connection takes to be found dead; within it a COMMIT without an answer shows in the record or never will (T11). */
const IN_DOUBT_MS = 5_000

/** Rejects with `OUTCOME_UNKNOWN`, or with the definite error of the user's own transaction. */
export async function conclude<Tx>(
  owner: Owner<Tx>,
  verdict: Verdict,
  opened: OpenedTransaction<Tx> | undefined,
): Promise<Attempted> {
  switch (verdict.kind) {
    case 'keep': {
      if (verdict.writes === 'commit') return save(owner, answerOf(verdict), { fate: 'kept', opened })
      await undo(owner, opened)
      return save(owner, answerOf(verdict), { fate: 'kept', event: 'kept-undone' })
    }
    case 'spend': {
      const { why, head } = verdict
      return save(owner, { spent: why, ...(head ? { head } : {}) }, { fate: 'spent', opened })
    }
    case 'free':
      await undo(owner, opened)
      return release(owner, 'free')
    case 'retry':
      await undo(owner, opened)
      return release(owner, 'retry')
    case 'hold':
      await undo(owner, opened)
      return hold(owner, verdict.why)
    default:
      throw verdict satisfies never
  }
}

function answerOf({ receipt, head }: Extract<Verdict, { kind: 'keep' }>): Kept {
  return head ? { receipt, head } : { receipt }
}

/** The work overran, or its answer could not be saved: one try to say so, for as long as a store may take to answer. */
export async function giveUp(owner: Owner, why: string, kept?: Kept): Promise<Attempted> {
  const { driver, held, facts, claimMs } = owner
  let answer: 'done' | Seen | typeof TOO_LATE
  try {
    answer = await within(driver.hold(held, why), claimMs)
  } catch (error) {
    tell('store-failed', { ...facts, why: 'hold', error })
    answer = TOO_LATE
  }
  if (answer === 'done') tell('held', { ...facts, why })
  else if (answer !== TOO_LATE && kept && isKept(answer, owner, kept))
    return won(owner, 'receipt' in kept ? 'kept' : 'spent')
  else if (answer !== TOO_LATE && !isMine(answer, owner)) return refused(owner, answer)
  throw outcomeUnknown(driver.name, held.id, why)
}

/** Ownership was lost while the work ran: nothing is written, the record answers (L3). */
export async function answerFromRecord<Tx>(
  owner: Owner<Tx>,
  opened: OpenedTransaction<Tx> | undefined,
): Promise<Attempted> {
  await undo(owner, opened)
  const seen = await insist(() => owner.driver.read(owner.held.id), insisting(owner, 'read'))
  if (seen === TOO_LATE) throw outcomeUnknown(owner.driver.name, owner.held.id, 'ownership was lost')
  return afterWork(owner, seen)
}

interface Saving<Tx> {
  readonly fate: 'kept' | 'spent'
  readonly event?: EventName
  readonly opened?: OpenedTransaction<Tx> | undefined
}

async function save<Tx>(owner: Owner<Tx>, kept: Kept, { fate, event = fate, opened }: Saving<Tx>): Promise<Attempted> {
  tell('keeping', owner.facts)
  const answer = await (opened
    ? commit(owner, opened, kept)
    : insist(() => owner.driver.complete(owner.held, kept), insisting(owner, 'complete')))
  if (answer === TOO_LATE) return giveUp(owner, 'the answer could not be saved', kept)
  if (answer === 'done' || isKept(answer, owner, kept)) return won(owner, fate, event)
  return refused(owner, answer)
}

/** The receipt travels with the user's writes. It is sent once: only the record can say what became of a COMMIT without an answer. */
async function commit<Tx>(
  owner: Owner<Tx>,
  opened: OpenedTransaction<Tx>,
  kept: Kept,
): Promise<'done' | Seen | typeof TOO_LATE> {
  const { until } = insisting(owner, 'commit')
  try {
    const answer = await within(opened.complete(kept), until - monotonic())
    if (answer !== TOO_LATE) return answer
  } catch (error) {
    if (!isInDoubt(error)) return failed(owner, error)
    tell('commit-unknown', { ...owner.facts, error })
  }
  const end = monotonic() + IN_DOUBT_MS
  while (monotonic() < end) {
    const seen = await insist(() => owner.driver.read(owner.held.id), { ...insisting(owner, 'read'), until: end })
    if (seen !== TOO_LATE && (isKept(seen, owner, kept) || !isMine(seen, owner))) return seen
    await sleep(50)
  }
  return TOO_LATE
}

/** A definite error of the user's own at COMMIT is the work's failure (T10). */
async function failed(owner: Owner, error: unknown): Promise<never> {
  const { onFailure } = owner.held.policy
  await (onFailure === 'hold' ? hold(owner, 'its transaction failed') : release(owner, onFailure))
  throw error
}

async function release(owner: Owner, to: 'free' | 'retry'): Promise<Attempted> {
  const answer = await insist(() => owner.driver.release(owner.held, to), insisting(owner, 'release'))
  if (answer === TOO_LATE) throw outcomeUnknown(owner.driver.name, owner.held.id, 'the store did not take the release')
  const there =
    answer === 'done' ||
    (to === 'free'
      ? answer.kind === 'absent' || (answer.over && isMine(answer, owner))
      : answer.kind === 'record' && answer.record.state === 'open' && isMine(answer, owner))
  return there ? won(owner, to === 'free' ? 'freed' : 'reopened') : refused(owner, answer)
}

async function hold(owner: Owner, why: string): Promise<Attempted> {
  const answer = await insist(() => owner.driver.hold(owner.held, why), insisting(owner, 'hold'))
  if (answer === TOO_LATE) throw outcomeUnknown(owner.driver.name, owner.held.id, why)
  const there =
    answer === 'done' || (isMine(answer, owner) && answer.kind === 'record' && answer.record.state === 'unknown')
  return there ? won(owner, 'held') : refused(owner, answer)
}

function won({ facts }: Owner, fate: Fate, event: EventName = fate): Attempted {
  tell(event, facts)
  return { kind: 'won', fate }
}

function refused(owner: Owner, seen: Seen): Attempted {
  tell('stale-write-refused', owner.facts)
  return afterWork(owner, seen)
}

function afterWork({ driver, held }: Owner, seen: Seen): Attempted {
  // §1: no record left is an unknown outcome, never the work's own answer.
  if (seen.kind === 'absent' || seen.over) throw outcomeUnknown(driver.name, held.id, 'its record is gone')
  const judged = judge(seen, held.prints)
  switch (judged.kind) {
    case 'finished':
    case 'mismatch':
    case 'unknown':
    case 'busy':
      return { ...judged, afterWork: true }
    case 'abandoned':
      return { kind: 'unknown', record: seen.record, afterWork: true }
    case 'runnable':
    case 'own':
      return { kind: 'busy', ageMs: seen.ageMs ?? 0, retryAfterMs: 0, afterWork: true }
    default:
      throw judged satisfies never
  }
}

async function undo<Tx>({ facts }: Owner<Tx>, opened: OpenedTransaction<Tx> | undefined): Promise<void> {
  // A rollback that fails has lost its connection, and the database rolls back without being asked.
  await opened?.rollback().catch((error: unknown) => tell('store-failed', { ...facts, why: 'rollback', error }))
}

function isMine(seen: Seen, { held }: Owner): boolean {
  return seen.kind === 'record' && seen.token === held.token
}

/** Ours, finished, and with our answer: another process under the same `execution` may have kept a different one. */
function isKept(seen: Seen, owner: Owner, kept: Kept): boolean {
  if (seen.kind === 'absent' || seen.record.state !== 'finished' || !isMine(seen, owner)) return false
  const stored = 'receipt' in seen.record ? seen.record.receipt : undefined
  const sent = 'receipt' in kept ? kept.receipt : undefined
  if (!stored || !sent) return stored === sent
  return stored.length === sent.length && stored.every((byte, at) => byte === sent[at])
}

/** Until the work's time is over (L4), and for work that ended in the last moment at least once. */
function insisting({ facts, claimMs, workEndsAt }: Owner, step: string) {
  return {
    until: Math.max(workEndsAt, monotonic() + claimMs),
    patienceMs: claimMs,
    missed: (error: unknown) => tell('store-failed', { ...facts, why: step, error }),
  }
}
