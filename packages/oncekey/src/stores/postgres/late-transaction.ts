/** The transaction that a lease's winner opens late: it commits together with the receipt, or not at all (L1). */
import type { Seen } from '../../core/record.ts'
import type { Held, OpenedTransaction } from '../../core/store.ts'
import { type Database, type Ending, isInDoubt, type Statement } from '../database/database.ts'
import { sqlState } from '../database/sql-state.ts'
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

/**
 * At most `maxWinners` at a time, by default what leaves a fifth of the pool, and at least one connection, to the
 * short statements: a beat then waits for a few claims and answers at most, and never for somebody's work (L1).
 */
export function lateTransactions<Tx>(
  database: Database<Tx>,
  { record, readBack, maxWinners = spareOf(database.connections) }: Parts,
): (mine: Held) => Promise<OpenedTransaction<Tx>> {
  const keepOrFail = completeOrFail(record)
  const take = permits(maxWinners)

  return async function begin(mine) {
    const giveBack = await take()
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
        .finally(giveBack)
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
}

function isStill(mine: Held, seen: Seen): boolean {
  return seen.kind === 'record' && seen.token === mine.token && seen.record.fence === mine.fence && !seen.over
}

/** T13's formula; where the pool cannot be seen, pg's own default size is the safe guess. */
function spareOf(connections = 10): number {
  return Math.max(1, connections - Math.max(1, Math.ceil(connections / 5)))
}

/** First come, first served. */
function permits(limit: number): () => Promise<() => void> {
  const waiting: (() => void)[] = []
  let free = limit

  function giveBack(): void {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return async function take() {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return giveBack
  }
}
