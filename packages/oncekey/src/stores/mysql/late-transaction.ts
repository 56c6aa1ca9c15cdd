/** The transaction that a lease's winner opens late: it commits together with the receipt, or not at all (L1). */
import { OncekeyError } from '../../core/errors.ts'
import type { Seen } from '../../core/record.ts'
import type { Held, Kept, OpenedTransaction } from '../../core/store.ts'
import { type Database, type Ending, isInDoubt, type Statement } from '../database/database.ts'
import { mysqlError } from '../database/mysql-error.ts'
import { permits, winnersOf } from '../transactional/permits.ts'
import type { Names } from './names.ts'
import { complete, orFail } from './statements/lease/complete.ts'

/** Between the beginning and the work; its release proves that this is still the transaction that was opened (T3). */
const savepoint: Statement = { text: 'savepoint oncekey_work', params: [] }
const proof: Statement = { text: 'release savepoint oncekey_work', params: [] }

const SAVEPOINT_GONE = 1305
const OUT_OF_RANGE = 1690

interface Parts {
  readonly names: Names
  readonly maxWinners?: number
  read(id: string): Promise<Seen>
  hold(mine: Held, why: string): Promise<'done' | Seen>
}

export interface LateTransactions<Tx> {
  begin(mine: Held): Promise<OpenedTransaction<Tx>>
  close(): void
}

/** Where the pool cannot be seen: mysql2's own default. */
const UNSEEN = 10

/**
 * At most `maxWinners` at a time, by default what leaves a fifth of the pool, and at least one connection, to the
 * short statements: a beat then waits for a few claims and answers at most, and never for somebody's work (L1).
 */
export function lateTransactions<Tx>(database: Database<Tx>, parts: Parts): LateTransactions<Tx> {
  const { names, read, hold, maxWinners = winnersOf(database.connections ?? UNSEEN) } = parts
  // Whoever waits here holds a claim already: a queue that refuses would only waste its work.
  const turns = permits(maxWinners, Number.POSITIVE_INFINITY)

  async function begin(mine: Held): Promise<OpenedTransaction<Tx>> {
    const turn = await turns.queue(mine.policy.workMs)
    if (!turn) throw noTurn(mine.id)
    let end: (ending: Ending<void>) => void = () => {}
    let settled: Promise<void> = Promise.resolve()
    const opened = await new Promise<Pick<OpenedTransaction<Tx>, 'tx' | 'gone'>>(function unfold(resolve, reject) {
      settled = database
        .transaction<void>([savepoint], function hand(tx, _opened, gone) {
          resolve({ tx, gone })
          return new Promise((ending) => {
            end = ending
          })
        })
        .finally(() => turn.release())
      settled.catch(reject)
    })

    async function keep(kept: Kept): Promise<'done' | Seen> {
      end({ commit: [proof, complete(names, mine, kept), orFail], value: undefined })
      try {
        await settled
        return 'done'
      } catch (error) {
        if (isInDoubt(error)) throw error
        const errno = mysqlError(error)?.errno
        if (errno === OUT_OF_RANGE) return read(mine.id)
        if (errno !== SAVEPOINT_GONE) throw error
        // What the work wrote may be there without its answer: it is neither kept nor free (T3).
        await hold(mine, 'the work ended its own transaction')
        return read(mine.id)
      }
    }

    async function rollback(): Promise<void> {
      end({ rollback: true, value: undefined, settled: true })
      await settled
    }

    return { ...opened, complete: keep, rollback }
  }

  return { begin, close: () => turns.close() }
}

function noTurn(id: string): OncekeyError {
  return new OncekeyError('TRY_AGAIN', {
    what: 'No connection was free for the transaction of this operation.',
    where: 'begin',
    why: 'Other winners had all of them until the work of this one was over its time, or the store was closed.',
    fix: 'Call begin() late and return soon after it, or give the pool more connections (or `maxWinners`).',
    details: { id },
  })
}
