/** Asks again where a record was another's for a moment: locks of ours are held for a flight or two. */
import { sleep } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { mysqlError } from '../database/mysql-error.ts'

/** In all about a second: whoever holds a record longer is at work on it. */
const ATTEMPTS = 30
const PAUSE_MS = 2
/** Refused at once (1205; MySQL: 3572), a deadlock (1213), a row that somebody else has inserted first (1062). */
const LOST = [1205, 3572, 1213, 1062]

/** `attempt` gives nothing where what it read says nothing yet. `id`: of the record, for the error. */
export async function untilDecided<R>(id: string, attempt: () => Promise<R | undefined>): Promise<R> {
  let cause: unknown
  for (let attempts = 1; attempts <= ATTEMPTS; attempts += 1) {
    try {
      const decided = await attempt()
      if (decided !== undefined) return decided
    } catch (error) {
      if (!LOST.includes(mysqlError(error)?.errno ?? 0)) throw error
      cause = error
    }
    await sleep(PAUSE_MS * attempts)
  }
  throw new OncekeyError('STORE_UNAVAILABLE', {
    what: 'A record was held by somebody else for as long as this was asked for.',
    where: 'mysql',
    why: 'What becomes of it could not be decided, and nothing was run or written.',
    fix: 'Try again; if it persists, look for a transaction that stays open (`show processlist`).',
    details: { id },
    cause,
  })
}
