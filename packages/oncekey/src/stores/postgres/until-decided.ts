/** Runs a statement again until it decides: one that lost a race inside its own snapshot says nothing yet. */
import { OncekeyError } from '../../core/errors.ts'
import { sqlState } from '../database/sql-state.ts'

/** Each run has a new snapshot, so that a loser knows by the second as a rule; losing this often in a row is a fault. */
const ATTEMPTS = 20
/** A session that defaults to REPEATABLE READ or SERIALIZABLE says a lost race as an error. */
const LOST = ['40001', '40P01']

/** `attempt` gives nothing where what it read says nothing yet. `id`: of the record, for the error. */
export async function untilDecided<R>(id: string, attempt: () => Promise<R | undefined>): Promise<R> {
  for (let attempts = 1; attempts <= ATTEMPTS; attempts += 1) {
    try {
      const decided = await attempt()
      if (decided !== undefined) return decided
    } catch (error) {
      if (attempts === ATTEMPTS || !LOST.includes(sqlState(error) ?? '')) throw error
    }
  }
  throw new OncekeyError('STORE_UNAVAILABLE', {
    what: `A record changed under each of ${ATTEMPTS} statements in a row.`,
    where: 'postgres',
    why: 'Who owns the operation could not be decided, and nothing was run or written.',
    fix: 'Try again; if it persists, look for a client that claims the same key in a loop.',
    details: { id },
  })
}
