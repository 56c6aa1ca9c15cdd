/** One transaction around the work: BEGIN with the locks and the look, the work, the record with COMMIT. */

import { isOncekeyError } from '../../core/errors.ts'
import { type EventName, tell } from '../../core/events.ts'
import { readLabel, writeLabel } from '../../core/label.ts'
import type { Refused } from '../../core/record.ts'
import type { Fate } from '../../core/store.ts'
import { type Ending, isInDoubt } from '../database/database.ts'
import { type RecordRow, recordFrom } from '../row.ts'
import { type Bracket, inTime, type Turn } from './bracket.ts'
import { decide } from './decide.ts'
import type { Opened } from './dialect.ts'
import { aborted, tryAgain, unavailable, wrongIsolation } from './faults.ts'
import { grant } from './grant.ts'
import { type Memory, memoryOf, write } from './writes.ts'

export type Passed =
  | { readonly kind: 'refused'; readonly refused: Refused }
  | { readonly kind: 'won'; readonly fate: Fate; readonly event: EventName }
  | { readonly kind: 'unsure' }
  /** It may run, and no permit is left. */
  | { readonly kind: 'crowded' }
  /** Another record stood there after all; everything is rolled back. */
  | { readonly kind: 'raced'; readonly cause: unknown }
  /** The work has ended our transaction by itself (T3). */
  | { readonly kind: 'foreign'; readonly cause: unknown }
  | { readonly kind: 'in-doubt'; readonly cause: unknown }
  /** Rolled back, and there is something to be remembered all the same. */
  | { readonly kind: 'remember'; readonly memory: Memory }
  | { readonly kind: 'overran'; readonly why: string }

export async function pass<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>): Promise<Passed> {
  const { database, dialect, name } = bracket
  const { identity, how } = turn
  const savepoint = database.flights === 'joined' || dialect.provenBySavepoint === true || how.policy.discardable
  const asked = { identity, workMs: how.policy.workMs, savepoint }
  const progress: Progress = { stage: 'asking', memory: undefined }
  try {
    const passed = await inTime(bracket, (arrive) =>
      database.transaction<Passed>(dialect.opening(asked), async function inside(tx, answers, gone) {
        if (!arrive()) return undone({ kind: 'unsure' })
        const opened = dialect.read(answers)
        if (opened.isolation !== 'read committed') throw wrongIsolation(name, opened.isolation)
        if (!opened.writable) throw unavailable(name, 'The database takes no writes.')
        const decision = decide(opened, identity.prints, turn.holder)
        progress.stage = 'ending'
        switch (decision.kind) {
          case 'refused':
            return decision.holding ? settled(decision) : undone(decision)
          case 'unsure':
            return undone(decision)
          case 'abandon':
            return abandoned(abandonment(bracket, turn, decision.row))
          case 'run':
            turn.permit ??= bracket.permits.take()
            if (!turn.permit) return settled({ kind: 'crowded' })
            progress.stage = 'working'
            return work(bracket, turn, { tx, gone, opened, replaces: decision.replaces, savepoint, progress })
          default:
            throw decision satisfies never
        }
      }),
    )
    if (passed.kind === 'won') tell(passed.event, turn.facts)
    return passed
  } catch (error) {
    return failed(bracket, turn, progress, error)
  }
}

interface Progress {
  stage: 'asking' | 'working' | 'ending'
  memory: Memory | undefined
}

interface Inside<Tx> {
  readonly tx: Tx
  readonly gone: AbortSignal
  readonly opened: Opened
  readonly replaces: RecordRow | undefined
  readonly savepoint: boolean
  readonly progress: Progress
}

async function work<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, inside: Inside<Tx>): Promise<Ending<Passed>> {
  const { dialect } = bracket
  const { identity, how, facts } = turn
  const { opened, replaces, savepoint, progress } = inside
  const worked = await grant(bracket, turn, inside)
  progress.stage = 'ending'
  if (worked.kind === 'overran') return { ...undone(worked), destroy: true }

  const memory = memoryOf(worked.verdict, identity, how.policy)
  progress.memory = memory
  if (memory === undefined) return settled({ kind: 'won', fate: 'freed', event: 'freed' })
  if (memory.undo && !savepoint) return settled({ kind: 'remember', memory })
  tell('keeping', facts)
  const record = write(dialect, memory, { identity, opened: opened.opened, replaces })
  const { fate, event } = memory
  const afterUndo: Ending<Passed> = {
    commit: [dialect.undo, record],
    value: { kind: 'won', fate, event: event === 'kept' ? 'kept-undone' : event },
  }
  if (memory.undo) return afterUndo
  return {
    commit: [...(bracket.restores ? dialect.restore : []), record],
    value: { kind: 'won', fate, event },
    ...(savepoint ? { whenAborted: afterUndo } : {}),
  }
}

/** A claim whose owner is gone, where its record says that nobody takes over: that is written down before it is answered. */
export function abandonment<Tx>({ dialect }: Bracket<Tx>, { identity, facts }: Turn<Tx>, row: RecordRow) {
  const why = 'the owner is gone'
  const body = writeLabel({ ...identity.label, ...readLabel(row.body && new Uint8Array(row.body)), why })
  const refused: Refused = { kind: 'unknown', record: { ...recordFrom(row), state: 'unknown', why } }
  tell('held', { ...facts, why })
  return { statement: dialect.writeUnknown({ id: identity.id, body }, row), refused }
}

function abandoned({ statement, refused }: ReturnType<typeof abandonment>): Ending<Passed> {
  return { commit: [statement], value: { kind: 'refused', refused } }
}

function undone(value: Passed): Extract<Ending<Passed>, { rollback: true }> {
  return { rollback: true, value }
}

/** We hold the key's lock: whoever comes next must find it free. */
function settled(value: Passed): Ending<Passed> {
  return { rollback: true, value, settled: true }
}

/** Definite and in doubt are told apart here, and nowhere else; what the driver threw leaves only as a cause, or when it is the user's own. */
function failed<Tx>(bracket: Bracket<Tx>, { facts }: Turn<Tx>, progress: Progress, error: unknown): Passed {
  const { dialect, name } = bracket
  if (isOncekeyError(error)) throw error
  const { stage, memory } = progress
  if (stage === 'asking') {
    if (dialect.failure(error) === 'locked') return { kind: 'unsure' }
    tell('store-failed', { ...facts, error })
    throw unavailable(name, 'The database did not open a transaction.', error)
  }
  if (isInDoubt(error)) {
    tell('commit-unknown', { ...facts, error })
    return { kind: 'in-doubt', cause: error.cause }
  }
  const failure = dialect.failure(error)
  // A savepoint that is gone went with our transaction.
  if (failure === 'foreign' || failure === 'no-transaction') return { kind: 'foreign', cause: error }
  if (failure === 'denied') bracket.restores = true
  if (memory?.fate === 'held') return { kind: 'remember', memory }
  if (failure === 'raced') return { kind: 'raced', cause: error }
  tell('freed', { ...facts, error })
  switch (failure) {
    case 'aborted':
      throw aborted(name, error)
    case 'users':
      throw error
    case 'denied':
    case 'locked':
    case 'other':
      throw tryAgain(name, 'The record could not be written.', error)
    default:
      throw failure satisfies never
  }
}
