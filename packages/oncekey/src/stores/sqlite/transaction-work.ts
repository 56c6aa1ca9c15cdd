/** Runs the work on the transaction that its claim was written in, and ends both together. */
import { monotonic } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { type EventName, type OncekeyEvent, tell } from '../../core/events.ts'
import { grantOf } from '../../core/grant.ts'
import type { Identity, Operation } from '../../core/operation.ts'
import { judge, type Refused } from '../../core/record.ts'
import type { Attempted, Fate, How, InTransaction, Kept, Verdict } from '../../core/store.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { SqliteConnection } from './driver.ts'
import { resultOf, unavailable } from './failure.ts'
import type { SqliteFile, Writer } from './file.ts'
import { handleOn } from './handle.ts'
import { holds } from './holding.ts'
import type { Statements } from './statements/index.ts'
import type { Mine } from './statements/mine.ts'
import { aborted, childKeyUnsafe, commitUnknown, endedByWork, overran, rolledBack } from './transaction-faults.ts'

export interface Working<Tx> {
  readonly file: SqliteFile<Tx>
  readonly statements: Statements
  readonly writer: Writer<Tx>
  readonly identity: Identity
  readonly operation: Operation
  readonly how: How
  readonly work: (grant: InTransaction<Tx>) => Promise<Verdict>
  readonly ending: AbortController
  readonly facts: Omit<OncekeyEvent, 'event'>
}

/** Long enough for a disk or a lock to come back; after that only the record itself can tell (T11). */
const IN_DOUBT_MS = 5_000

const SAVEPOINT = { text: 'savepoint oncekey', params: [] }
const ROLLBACK_TO = { text: 'rollback to oncekey', params: [] }
const RELEASE = { text: 'release oncekey', params: [] }

/**
 * The claim is written first and in the same transaction: nobody sees it, a kill takes it along, and if somebody else
 * ends this transaction it tells how. A rollback removes it, a COMMIT of the user's own publishes it, and then the key
 * stays held however the process ends (T3).
 */
export async function runInTransaction<Tx extends SqliteConnection>(working: Working<Tx>): Promise<Attempted> {
  const { file, statements, writer, identity, operation, how, work, ending, facts } = working
  const { id, prints, label } = identity
  const { workMs, dedupesForMs } = how.policy
  const policy = { ...how.policy, onAbandoned: 'hold' as const, leaseMs: workMs }
  const mine: Mine = { id, token: randomHex(16), prints, label, policy, fence: null }
  const handle = handleOn(writer)
  function mayCall(): void {
    if (dedupesForMs === undefined) throw childKeyUnsafe(file.path)
  }

  try {
    writer.run(statements.claim(mine))
    writer.run(SAVEPOINT)
  } catch (error) {
    throw unavailable(error, file.path)
  }
  const letGo = holds(file.path)
  tell('claimed', facts)
  const grant = { ...grantOf({ operation, id, how, signal: ending.signal, mayCall }), tx: handle.tx }
  const timer = setTimeout(() => ending.abort(overran(file.path, workMs)), workMs)
  const verdict = await Promise.race([verdictOf(() => work(grant)), aborting(ending.signal)])
  clearTimeout(timer)
  handle.close()
  letGo()
  if (verdict === undefined) {
    writer.rollback()
    tell('freed', { ...facts, why: 'the work was given up' })
    throw ending.signal.reason
  }
  return end(working, mine, verdict)
}

/** Work that rejects frees the key: everything that it did is rolled back. */
async function verdictOf(work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work()
  } catch {
    return { kind: 'free' }
  }
}

function aborting(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
}

async function end<Tx>(working: Working<Tx>, mine: Mine, verdict: Verdict): Promise<Attempted> {
  const { writer, facts } = working
  const undoes = verdict.kind === 'hold' || (verdict.kind === 'keep' && verdict.writes === 'undo')
  if (verdict.kind === 'keep' || verdict.kind === 'spend') tell('keeping', facts)
  try {
    if (undoes) writer.run(ROLLBACK_TO)
    writer.run(RELEASE)
  } catch {
    return endAfterAll(working, mine, verdict, undoes)
  }
  // A rollback is proof that nothing happened, so that here `retry` leaves nothing to remember either.
  if (verdict.kind === 'free' || verdict.kind === 'retry') {
    writer.rollback()
    return won(working, 'freed')
  }
  return save(working, mine, verdict)
}

async function save<Tx>(
  working: Working<Tx>,
  mine: Mine,
  verdict: Exclude<Verdict, { kind: 'free' | 'retry' }>,
): Promise<Attempted> {
  const { statements, writer } = working
  try {
    switch (verdict.kind) {
      case 'keep':
      case 'spend':
        writer.run(statements.finish(mine, keptOf(verdict)))
        break
      case 'hold':
        writer.run(statements.hold(mine, verdict.why))
        break
      default:
        throw verdict satisfies never
    }
  } catch (error) {
    writer.rollback()
    tell('freed', { ...working.facts, why: 'not saved', error })
    throw rolledBack(working.file.path, error)
  }
  try {
    await writer.commit()
  } catch (error) {
    writer.rollback()
    return afterFailedCommit(working, error)
  }
  switch (verdict.kind) {
    case 'keep':
      return won(working, 'kept', verdict.writes === 'undo' ? 'kept-undone' : 'kept')
    case 'spend':
      return won(working, 'spent')
    case 'hold':
      return won(working, 'held')
    default:
      throw verdict satisfies never
  }
}

export function keptOf(verdict: Extract<Verdict, { kind: 'keep' | 'spend' }>): Kept {
  const head = verdict.head ? { head: verdict.head } : {}
  return verdict.kind === 'keep' ? { receipt: verdict.receipt, ...head } : { spent: verdict.why, ...head }
}

function won({ facts }: Pick<Working<never>, 'facts'>, fate: Fate, event: EventName = fate): Attempted {
  tell(event, facts)
  return { kind: 'won', fate }
}

/** Our savepoint is gone: somebody else has ended the transaction. The claim says whether it was a COMMIT (T3). */
async function endAfterAll<Tx>(
  working: Working<Tx>,
  mine: Mine,
  verdict: Verdict,
  undoes: boolean,
): Promise<Attempted> {
  const { file, statements, writer, facts } = working
  writer.rollback()
  await writer.begin(monotonic() + IN_DOUBT_MS).catch(() => {
    throw endedByWork(file.path, mine.id)
  })
  const seen = seenFrom(writer.get(statements.read(mine.id)) as RecordRow | undefined)
  if (seen.kind === 'record' && seen.token === mine.token) {
    const why = 'committed from outside'
    writer.run(statements.hold(mine, why))
    await writer.commit()
    tell('held', { ...facts, why })
    throw endedByWork(file.path, mine.id)
  }
  if (verdict.kind === 'free' || verdict.kind === 'retry') return won(working, 'freed')
  const judged = judge(seen, mine.prints)
  if (judged.kind !== 'runnable') return { ...(judged as Refused), afterWork: true }
  if (!undoes) {
    tell('freed', { ...facts, why: 'rolled back by SQLite' })
    throw aborted(file.path)
  }
  // SQLite has undone the writes itself, as the verdict wanted it.
  writer.run(statements.claim(mine))
  return save(working, mine, verdict)
}

/** COMMIT failed. A constraint is a definite word of the user's own schema (T10); after anything else the record is asked (T11). */
async function afterFailedCommit<Tx>(
  { file, statements, writer, identity, facts }: Working<Tx>,
  error: unknown,
): Promise<Attempted> {
  if (resultOf(error) === 'CONSTRAINT') {
    tell('freed', { ...facts, why: 'constraint', error })
    throw error
  }
  tell('commit-unknown', { ...facts, error })
  try {
    await writer.begin(monotonic() + IN_DOUBT_MS)
    const judged = judge(seenFrom(writer.get(statements.read(identity.id)) as RecordRow | undefined), identity.prints)
    if (judged.kind !== 'runnable') return { ...(judged as Refused), afterWork: true }
    // What the failed COMMIT may have left in the log without announcing it is overwritten, so that no recovery finds it.
    writer.get(statements.nextFence)
    await writer.commit()
  } catch {
    throw commitUnknown(file.path, error)
  }
  tell('freed', { ...facts, why: 'commit failed' })
  throw rolledBack(file.path, error)
}
