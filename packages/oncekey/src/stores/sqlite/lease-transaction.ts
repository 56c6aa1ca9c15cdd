/** `begin()` of lease mode: the queue and the write lock are held from it until the store has committed. */
import { monotonic } from '../../core/clock.ts'
import { judge, type Seen } from '../../core/record.ts'
import type { Held, Kept, OpenedTransaction } from '../../core/store.ts'
import { InDoubt } from '../database/database.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { SqliteConnection } from './driver.ts'
import { resultOf } from './failure.ts'
import type { SqliteFile, Writer } from './file.ts'
import { handleOn } from './handle.ts'
import { holds } from './holding.ts'
import { claimLost } from './lease-faults.ts'
import type { Statements } from './statements/index.ts'
import { aborted, endedByWork } from './transaction-faults.ts'

export interface LateTransactions<Tx> {
  begin(mine: Held): Promise<OpenedTransaction<Tx>>
  isOpen(id: string, token: string): boolean
  /** Gives up what is open for this claim: another verdict is to be written, or the work overran. */
  rollback(id: string, token: string): Promise<void>
}

export function lateTransactions<Tx extends SqliteConnection>(
  file: SqliteFile<Tx>,
  statements: Statements,
): LateTransactions<Tx> {
  const open = new Map<string, OpenedTransaction<Tx>>()

  function begin(mine: Held): Promise<OpenedTransaction<Tx>> {
    return new Promise((resolve, reject) => {
      file
        .write(
          (writer) =>
            new Promise<void>((leave, fail) => {
              const seen = look(writer, mine.id)
              if (judge(seen, mine.prints, mine.token).kind !== 'own') return fail(claimLost(file.path, mine.id))
              const opened = transactionOn(writer, mine, leave)
              open.set(nameOf(mine), opened)
              resolve(opened)
            }),
        )
        .catch(reject)
    })
  }

  function transactionOn(writer: Writer<Tx>, mine: Held, leave: () => void): OpenedTransaction<Tx> {
    // Renewed inside the transaction: if somebody else ends it, the end of the lease tells if it was a COMMIT (T3).
    writer.run(statements.renew(mine))
    const begun = leaseEnd(look(writer, mine.id))
    writer.run(SAVEPOINT)
    const handle = handleOn(writer)
    const letGo = holds(file.path)
    let over = false

    function end(): void {
      over = true
      handle.close()
      letGo()
      open.delete(nameOf(mine))
    }
    async function complete(kept: Kept): Promise<'done' | Seen> {
      if (over) return look(writer, mine.id)
      end()
      try {
        await prove()
        if (writer.run(statements.finish(mine, kept)) === 0) {
          writer.rollback()
          return look(writer, mine.id)
        }
        await writer.commit().catch((error: unknown) => {
          writer.rollback()
          throw resultOf(error) === 'CONSTRAINT' ? error : new InDoubt(error)
        })
        return 'done'
      } finally {
        leave()
      }
    }
    async function prove(): Promise<void> {
      try {
        writer.run(RELEASE)
      } catch {
        writer.rollback()
        await writer.begin(monotonic() + file.lockMs)
        const published = leaseEnd(look(writer, mine.id)) === begun
        throw published ? new InDoubt(endedByWork(file.path, mine.id)) : aborted(file.path)
      }
    }
    return {
      tx: handle.tx,
      // The connection is a file of our own process: it does not die without us.
      gone: new AbortController().signal,
      complete,
      async rollback() {
        if (over) return
        end()
        writer.rollback()
        leave()
      },
    }
  }

  function look(writer: Writer<Tx>, id: string): Seen {
    return seenFrom(writer.get(statements.read(id)) as RecordRow | undefined)
  }

  return {
    begin,
    isOpen: (id, token) => open.has(`${id}/${token}`),
    async rollback(id, token) {
      await open.get(`${id}/${token}`)?.rollback()
    },
  }
}

const SAVEPOINT = { text: 'savepoint oncekey', params: [] }
const RELEASE = { text: 'release oncekey', params: [] }

function leaseEnd(seen: Seen): number | undefined {
  return seen.kind === 'record' ? seen.record.leaseEndsAt?.getTime() : undefined
}

function nameOf({ id, token }: Held): string {
  return `${id}/${token}`
}
