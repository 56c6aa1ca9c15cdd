/** An operation inside a transaction that is open already: its record is durable when that transaction is (T15). */
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import { type EventName, tell } from '../../core/events.ts'
import { grantOf } from '../../core/grant.ts'
import { nested } from '../../core/nesting.ts'
import { identify, type Operation } from '../../core/operation.ts'
import { judge } from '../../core/record.ts'
import type { Attempted, Fate, How, InTransaction, Verdict } from '../../core/store.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { SqliteConnection } from './driver.ts'
import type { SqliteFile, Writer } from './file.ts'
import { writerOf } from './handle.ts'
import type { Statements } from './statements/index.ts'
import type { Mine } from './statements/mine.ts'
import { aborted, childKeyUnsafe } from './transaction-faults.ts'
import { keptOf } from './transaction-work.ts'

export interface Inside<Tx> {
  readonly file: SqliteFile<Tx>
  readonly statements: Statements
  readonly tx: Tx
  /** Told when an operation joins those at work, so that its duplicates are answered at once; nothing where it is at work already. */
  readonly join: (id: string, prints: readonly string[], how: How) => Joined | undefined
}
export interface Joined {
  settled(): void
  /** The transaction around it is over. */
  left(): void
}

/** Throws `INVALID_OPTION` for anything but an open `tx` of the store on this file. */
export function attemptInside<Tx extends SqliteConnection>({ file, statements, tx, join }: Inside<Tx>) {
  const writer = writerOf(tx)
  if (writer === undefined || !file.owns(writer)) throw notOurs(file.path)
  return (operation: Operation, how: How, work: (grant: InTransaction<Tx>) => Promise<Verdict>) =>
    attempt(writer, operation, how, work)

  async function attempt(
    writer: Writer<Tx>,
    operation: Operation,
    how: How,
    work: (grant: InTransaction<Tx>) => Promise<Verdict>,
  ): Promise<Attempted> {
    const { id, prints } = identify(operation)
    const joined = join(id, prints, how)
    if (!joined) throw nested(id)
    writer.ended.push(joined.left)
    try {
      return await run(writer, operation, how, work)
    } finally {
      joined.settled()
    }
  }

  async function run(
    writer: Writer<Tx>,
    operation: Operation,
    how: How,
    work: (grant: InTransaction<Tx>) => Promise<Verdict>,
  ): Promise<Attempted> {
    const { id, prints, label } = identify(operation)
    const named = operation.name === undefined ? {} : { name: operation.name }
    const facts = { store: 'sqlite', mode: 'transaction' as const, id, ...named }
    const judged = judge(seenFrom(writer.get(statements.read(id)) as RecordRow | undefined), prints)
    if (judged.kind !== 'runnable' && judged.kind !== 'abandoned' && judged.kind !== 'own') return judged
    // Written unknown by whoever asks outside of a transaction that may yet be rolled back.
    if (judged.kind === 'abandoned') return { kind: 'busy', ageMs: 0, retryAfterMs: 0 }

    const policy = { ...how.policy, onAbandoned: 'hold' as const, leaseMs: how.policy.workMs }
    const mine: Mine = { id, token: randomHex(16), prints, label, policy, fence: null }
    function mayCall(): void {
      if (policy.dedupesForMs === undefined) throw childKeyUnsafe(file.path)
    }
    const ending = new AbortController()
    const grant = { ...grantOf({ operation, id, how, signal: ending.signal, mayCall }), tx }
    // Each has names of its own: operations may lie inside each other, and beside each other.
    const outer = `oncekey_${mine.token}`
    const inner = `${outer}_work`

    writer.exec(`savepoint ${outer}`)
    writer.run(statements.claim(mine))
    writer.exec(`savepoint ${inner}`)
    tell('claimed', facts)
    const verdict = await work(grant).catch((): Verdict => ({ kind: 'free' }))
    try {
      return end(verdict)
    } catch (cause) {
      throw Object.assign(aborted(file.path), { cause })
    }

    function end(verdict: Verdict): Attempted {
      switch (verdict.kind) {
        case 'free':
        case 'retry':
          writer.exec(`rollback to ${outer}; release ${outer}`)
          return won('freed')
        case 'hold':
          writer.exec(`rollback to ${inner}`)
          writer.run(statements.hold(mine, verdict.why))
          writer.exec(`release ${outer}`)
          return won('held')
        case 'keep':
        case 'spend': {
          tell('keeping', facts)
          const undone = verdict.kind === 'keep' && verdict.writes === 'undo'
          if (undone) writer.exec(`rollback to ${inner}`)
          writer.run(statements.finish(mine, keptOf(verdict)))
          writer.exec(`release ${outer}`)
          if (verdict.kind === 'spend') return won('spent')
          return won('kept', undone ? 'kept-undone' : 'kept')
        }
        default:
          throw verdict satisfies never
      }
    }
    function won(fate: Fate, event: EventName = fate): Attempted {
      writer.ended.push((committed) => tell(committed ? event : 'freed', facts))
      return { kind: 'won', fate }
    }
  }
}

function notOurs(where: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'within() was given something else than an open `tx` of this store.',
    where,
    why: 'The store could not tell when that transaction ends, nor keep others out of it.',
    fix: 'Give the `tx` of an operation, or of `store.write()`, while its work runs.',
  })
}
