/** Transaction mode: the record, the user's writes and the answer are one SQLite transaction, and a killed process leaves nothing. */
import { monotonic } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { type Identity, identify, type Operation } from '../../core/operation.ts'
import type { StorePolicy } from '../../core/policy.ts'
import { judge, type Refused, type Seen } from '../../core/record.ts'
import type { Admin, Attempted, How, InTransaction, Store, Verdict } from '../../core/store.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { SqliteConnection } from './driver.ts'
import { unavailable } from './failure.ts'
import { type SqliteFile, storeClosed } from './file.ts'
import { placed } from './holding.ts'
import type { Sql } from './sql.ts'
import { statementsOn } from './statements/index.ts'
import { runInTransaction } from './transaction-work.ts'
import { attemptInside, type Joined } from './within.ts'

export interface TransactionOptions<Tx> {
  readonly file: SqliteFile<Tx>
  readonly defaults: Partial<StorePolicy>
  readonly admin: Admin
  /** How long a disposed store waits for work in progress before its signals abort. */
  readonly drainMs: number
}
/** At work in this process: its duplicates are answered at once, without the queue. */
interface RunningHere {
  readonly prints: readonly string[]
  since: number
  readonly workMs: number
  /** Its end waits for that of the transaction around it; until then only that transaction sees its record. */
  settled?: true
}

export interface TransactionStore<Tx> extends Store<InTransaction<Tx>> {
  /**
   * The same store inside a transaction that is open already: the `tx` of an operation, or of `write()`. What is kept
   * there is kept when that transaction commits, and undone with it.
   */
  within(tx: Tx): Store<InTransaction<Tx>>
}

export function transactionStore<Tx extends SqliteConnection>({
  file,
  defaults,
  admin,
  drainMs,
}: TransactionOptions<Tx>): TransactionStore<Tx> {
  const statements = statementsOn(file.tables)
  const running = new Map<string, RunningHere>()
  /** Claims that wait for their turn; settled once they have looked. */
  const queued = new Map<string, Promise<void>>()
  const works = new Set<AbortController>()
  let closed = false

  async function attempt(
    operation: Operation,
    how: How,
    work: (grant: InTransaction<Tx>) => Promise<Verdict>,
  ): Promise<Attempted> {
    const identity = identify(operation)
    const { id, prints } = identity
    const until = monotonic() + file.lockMs
    for (;;) {
      if (closed) throw storeClosed(file.path)
      await file.restored()
      const row = await file.read(statements.read(id))
      const judged = judge(seenFrom(row as RecordRow | undefined), prints)
      if (judged.kind !== 'runnable' && judged.kind !== 'abandoned' && judged.kind !== 'own') return judged
      const here = running.get(id)
      if (here) return refusedBy(here, prints)
      const first = queued.get(id)
      if (!first) return claim(identity, { operation, how, work, until })
      await first
    }
  }

  interface Claiming {
    readonly operation: Operation
    readonly how: How
    readonly work: (grant: InTransaction<Tx>) => Promise<Verdict>
    readonly until: number
  }

  /** T16: only who holds the write lock and has looked joins those who run. */
  async function claim(identity: Identity, { operation, how, work, until }: Claiming): Promise<Attempted> {
    const { id, prints } = identity
    let looked = (): void => {}
    const turn = new Promise<void>((resolve) => {
      looked = resolve
    })
    queued.set(id, turn)
    function stopQueueing(): void {
      if (queued.get(id) === turn) queued.delete(id)
      looked()
    }
    const mine: RunningHere = { prints, since: monotonic(), workMs: how.policy.workMs }
    const ending = new AbortController()
    try {
      return await file.write(
        async function underLock(writer) {
          const judged = judge(look(writer, id), prints)
          switch (judged.kind) {
            case 'abandoned': {
              writer.run(statements.abandon(id, identity.label))
              const now = look(writer, id)
              await writer.commit()
              tell('held', { ...factsOf(operation, id), why: 'its owner vanished' })
              return judge(now, prints) as Refused
            }
            case 'runnable':
            case 'own':
              running.set(id, Object.assign(mine, { since: monotonic() }))
              works.add(ending)
              stopQueueing()
              return await runInTransaction({
                file,
                statements,
                writer,
                identity,
                operation,
                how,
                work,
                ending,
                facts: factsOf(operation, id),
              })
            default:
              return judged
          }
        },
        { until, signal: how.signal },
      )
    } catch (error) {
      // Its caller does not wait any longer, and nothing has begun.
      if (!works.has(ending) && how.signal?.aborted) return { kind: 'busy', ageMs: 0, retryAfterMs: 0 }
      throw works.has(ending) ? error : unavailable(error, file.path)
    } finally {
      if (running.get(id) === mine) running.delete(id)
      works.delete(ending)
      stopQueueing()
    }
  }

  function look(sql: Sql, id: string): Seen {
    return seenFrom(sql.get(statements.read(id)) as RecordRow | undefined)
  }

  function factsOf({ name }: Operation, id: string) {
    return { store: 'sqlite', mode: 'transaction' as const, id, ...(name === undefined ? {} : { name }) }
  }

  function join(id: string, prints: readonly string[], { policy }: How): Joined | undefined {
    const there = running.get(id)
    if (there && !there.settled) return undefined
    const mine: RunningHere = { prints, since: monotonic(), workMs: policy.workMs }
    running.set(id, mine)
    return {
      settled() {
        mine.settled = true
      },
      left() {
        if (running.get(id) === mine) running.delete(id)
      },
    }
  }

  const store: Store<InTransaction<Tx>> = {
    name: 'sqlite',
    mode: 'transaction',
    defaults,
    admin,
    restored: file.restored,
    attempt: (operation, how, work) =>
      placed(file.path, () => attempt(operation, how, work)).catch((error: unknown) => {
        if (isOncekeyError(error, 'STORE_UNAVAILABLE'))
          tell('store-failed', { store: 'sqlite', mode: 'transaction', error })
        throw error
      }),
    async [Symbol.asyncDispose]() {
      closed = true
      const timer = setTimeout(() => {
        for (const work of works) work.abort(storeClosed(file.path))
      }, drainMs)
      await file[Symbol.asyncDispose]()
      clearTimeout(timer)
    },
  }
  return {
    ...store,
    within(tx) {
      const attempt = attemptInside({ file, statements, tx, join })
      // Whoever made the store closes it.
      return { ...store, attempt, async [Symbol.asyncDispose]() {} }
    },
  }
}

function refusedBy({ prints, since, workMs }: RunningHere, asked: readonly string[]): Refused {
  if (!prints.some((print) => asked.includes(print))) return { kind: 'mismatch' }
  const ageMs = monotonic() - since
  return { kind: 'busy', ageMs, retryAfterMs: Math.max(0, Math.min(workMs - ageMs, ageMs)) }
}
