/** The lease port on PostgreSQL: each step of the protocol's table is one statement, and one fsync where it writes. */
import { OncekeyError } from '../../core/errors.ts'
import type { Seen } from '../../core/record.ts'
import type { Admin, Held, LeaseDriver } from '../../core/store.ts'
import type { Database, Row, Statement } from '../database/database.ts'
import { sqlState } from '../database/sql-state.ts'
import { type RecordRow, STATE, seenFrom } from '../row.ts'
import { lateTransactions } from './late-transaction.ts'
import { namesIn } from './names.ts'
import { claim } from './statements/lease/claim.ts'
import { complete } from './statements/lease/complete.ts'
import { hold } from './statements/lease/hold.ts'
import { read } from './statements/lease/read.ts'
import { releaseFree } from './statements/lease/release-free.ts'
import { releaseRetry } from './statements/lease/release-retry.ts'
import { renew } from './statements/lease/renew.ts'

export interface LeaseOptions {
  readonly schema: string
  readonly admin: Admin
  /** How many transactions of `begin()` are open at once. The rest of the pool stays free for claims, beats and answers. */
  readonly maxWinners?: number
  /**
   * A database over connections that nobody else uses, for beats (L1). Needed where a pool has a single connection,
   * or where the application keeps all of it for itself; one connection is enough.
   */
  readonly beats?: Pick<Database<never>, 'query'>
}

/** A statement that lost inside its own snapshot gets a new one each time; losing this often in a row is a fault. */
const ATTEMPTS = 20

export function leaseDriver<Tx>(database: Database<Tx>, options: LeaseOptions): LeaseDriver<Tx> {
  const { record } = namesIn(options.schema)
  const { beats = database } = options
  const statements = {
    claim: claim(record),
    complete: complete(record),
    renew: renew(record),
    free: releaseFree(record),
    retry: releaseRetry(record),
    hold: hold(record),
    read: read(record),
  }

  async function readBack(id: string): Promise<Seen> {
    const [row] = await database.query(statements.read(id))
    return standing(row)
  }

  /** Refused, it answers what stands there; the bracket recognises its own token in that (S2). */
  function write(mine: Held, statement: Statement, on: Pick<Database<never>, 'query'> = database) {
    return untilDecided<'done' | Seen>(on, statement, mine.id, function decide(row) {
      if (row?.done) return 'done'
      return row?.mine ? undefined : standing(row)
    })
  }

  const begin = lateTransactions(database, { record, readBack, ...options })
  return {
    name: 'postgres',
    claim(wanted) {
      return untilDecided(database, statements.claim(wanted), wanted.id, function decide(row) {
        if (row === undefined) return undefined
        const state = Number(row.state)
        if (!row.claimed || state === STATE.unknown) return standing(row)
        return {
          kind: 'won',
          fence: BigInt(row.fence as string),
          takenOver: row.taken_over === true,
          fresh: row.inserted === true,
        }
      })
    },
    complete: (mine, kept) => write(mine, statements.complete(mine, kept)),
    renew: (mine) => write(mine, statements.renew(mine), beats),
    release: (mine, to) => write(mine, statements[to](mine)),
    hold: (mine, why) => write(mine, statements.hold(mine, why)),
    read: readBack,
    begin,
    admin: options.admin,
    // The pool is the application's own.
    async [Symbol.asyncDispose]() {},
  }
}

/** Runs a statement again until it decides: a lost race inside our own snapshot, or a session that defaults to serializable. */
async function untilDecided<R>(
  database: Pick<Database<never>, 'query'>,
  statement: Statement,
  id: string,
  decide: (row: Row | undefined) => R | undefined,
): Promise<R> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const [row] = await database.query(statement)
      const decided = decide(row)
      if (decided !== undefined) return decided
    } catch (error) {
      if (attempt === ATTEMPTS || !['40001', '40P01'].includes(sqlState(error) ?? '')) throw error
    }
  }
  throw new OncekeyError('STORE_UNAVAILABLE', {
    what: `A record changed under each of ${ATTEMPTS} statements in a row.`,
    where: 'postgres',
    why: 'Who owns the operation could not be decided; nothing was run.',
    fix: 'Try again; if it persists, look for a client that claims the same key in a loop.',
    details: { id },
  })
}

function standing(row: Row | undefined): Seen {
  return seenFrom(row === undefined || row.k === null ? undefined : (row as unknown as RecordRow))
}
