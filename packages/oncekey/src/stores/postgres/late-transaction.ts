/** The transaction that a lease's winner opens late: it commits together with the receipt, or not at all (L1). */
import { OncekeyError } from '../../core/errors.ts'
import type { Seen } from '../../core/record.ts'
import type { Held, OpenedTransaction } from '../../core/store.ts'
import { type Database, type Ending, isInDoubt, type Statement } from '../database/database.ts'
import { sqlState } from '../database/sql-state.ts'
import { permits, winnersOf } from '../transactional/permits.ts'
import { asOpened } from './statements/as-opened.ts'
import { completeOrFail } from './statements/lease/complete.ts'

/** What `asOpened` goes back to, whatever the work does to its role. It travels with BEGIN. */
const noteRole: Statement = {
  text: "select set_config('oncekey.role', current_setting('role'), true)",
  params: [],
}

interface Parts {
  readonly record: string
  readonly maxWinners?: number
  readBack(id: string): Promise<Seen>
}

export interface LateTransactions<Tx> {
  begin(mine: Held): Promise<OpenedTransaction<Tx>>
  close(): void
}

/** Where the pool cannot be seen: pg's own default. */
const UNSEEN = 10

/**
 * At most `maxWinners` at a time, by default what leaves a fifth of the pool, and at least one connection, to the
 * short statements: a beat then waits for a few claims and answers at most, and never for somebody's work (L1).
 */
export function lateTransactions<Tx>(
  database: Database<Tx>,
  { record, readBack, maxWinners = winnersOf(database.connections ?? UNSEEN) }: Parts,
): LateTransactions<Tx> {
  const keepOrFail = completeOrFail(record)
  // Whoever waits here holds a claim already: a queue that refuses would only waste its work.
  const turns = permits(maxWinners, Number.POSITIVE_INFINITY)

  async function begin(mine: Held): Promise<OpenedTransaction<Tx>> {
    const turn = await turns.queue(mine.policy.workMs)
    if (!turn) throw noTurn(mine.id)
    let end: (ending: Ending<void>) => void = () => {}
    let settled: Promise<void> = Promise.resolve()
    const opened = await new Promise<Pick<OpenedTransaction<Tx>, 'tx' | 'gone'>>(function unfold(resolve, reject) {
      settled = database
        .transaction<void>([noteRole], function hand(tx, _opened, gone) {
          resolve({ tx, gone })
          return new Promise((ending) => {
            end = ending
          })
        })
        .finally(() => turn.release())
      settled.catch(reject)
    })

    async function complete(kept: Parameters<OpenedTransaction<Tx>['complete']>[0]): Promise<'done' | Seen> {
      end({ commit: [asOpened, keepOrFail(mine, kept)], value: undefined })
      try {
        await settled
        return 'done'
      } catch (error) {
        // A deferred trigger of the user's may divide by zero too: the record tells whose error it is.
        if (isInDoubt(error) || sqlState(error) !== '22012') throw error
        const seen = await readBack(mine.id)
        if (isStill(mine, seen)) throw error
        return seen
      }
    }

    async function rollback(): Promise<void> {
      end({ rollback: true, value: undefined })
      await settled
    }

    return { ...opened, complete, rollback }
  }

  return { begin, close: () => turns.close() }
}

function isStill(mine: Held, seen: Seen): boolean {
  return seen.kind === 'record' && seen.token === mine.token && seen.record.fence === mine.fence && !seen.over
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
