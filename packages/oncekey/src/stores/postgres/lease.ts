/** The lease port on PostgreSQL: each write of the protocol's table is one statement, and one fsync. */
import { type Judged, judge, type Seen } from '../../core/record.ts'
import type { Admin, ClaimWon, Held, Restored } from '../../core/store.ts'
import type { Database, Row, Statement } from '../database/database.ts'
import type { BeginningDriver } from '../leased.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import { lateTransactions } from './late-transaction.ts'
import { namesIn } from './names.ts'
import type { SchemaGuard } from './schema-guard.ts'
import { claim } from './statements/lease/claim.ts'
import { complete } from './statements/lease/complete.ts'
import { hold } from './statements/lease/hold.ts'
import { read } from './statements/lease/read.ts'
import { releaseFree } from './statements/lease/release-free.ts'
import { releaseRetry } from './statements/lease/release-retry.ts'
import { renew } from './statements/lease/renew.ts'
import { take } from './statements/lease/take.ts'
import { untilDecided } from './until-decided.ts'

export interface LeaseOptions {
  readonly schema: string
  readonly admin: Admin
  /** Asked before each claim; rejects where this build must not run on the schema (I4). */
  readonly guard?: Pick<SchemaGuard, 'start' | 'restored'>
  /** How many transactions of `begin()` are open at once. The rest of the pool stays free for claims, beats and answers. */
  readonly maxWinners?: number
  /**
   * A database over connections that nobody else uses, for beats (L1). Needed where a pool has a single connection,
   * or where the application keeps all of it for itself; one connection is enough.
   */
  readonly beats?: Pick<Database<never>, 'query'>
}

/** A row like that is taken, or written unknown: the database says which, under its lock. */
const TAKEABLE: readonly Judged['kind'][] = ['runnable', 'abandoned', 'own']

export function leaseDriver<Tx>(database: Database<Tx>, options: LeaseOptions): BeginningDriver<Tx> {
  const { record } = namesIn(options.schema)
  const { beats = database, guard } = options
  const statements = {
    claim: claim(record),
    take: take(record),
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
  function write({ id }: Held, statement: Statement, on: Pick<Database<never>, 'query'> = database) {
    return untilDecided<'done' | Seen>(id, async function send() {
      const [row] = await on.query(statement)
      if (row?.done) return 'done'
      return row?.mine ? undefined : standing(row)
    })
  }

  async function restored(): Promise<Restored | undefined> {
    await guard?.start()
    return guard?.restored()
  }

  const late = lateTransactions(database, { record, readBack, ...options })
  return {
    name: 'postgres',
    async claim(wanted) {
      await guard?.start()
      return untilDecided<ClaimWon | Seen>(wanted.id, async function lookOrTake() {
        const [found] = await database.query(statements.claim(wanted))
        if (found === undefined) return undefined
        if (found.inserted) return { kind: 'won', fence: fenceIn(found), takenOver: false, fresh: true }
        const seen = standing(found)
        if (!TAKEABLE.includes(judge(seen, wanted.prints, wanted.token).kind)) return seen
        const [taken] = await database.query(statements.take(wanted))
        if (taken === undefined) return undefined
        if (taken.lost) return standing(taken)
        return { kind: 'won', fence: fenceIn(taken), takenOver: taken.taken_over === true, fresh: taken.fresh === true }
      })
    },
    complete: (mine, kept) => write(mine, statements.complete(mine, kept)),
    renew: (mine) => write(mine, statements.renew(mine), beats),
    release: (mine, to) => write(mine, statements[to](mine)),
    hold: (mine, why) => write(mine, statements.hold(mine, why)),
    read: readBack,
    begin: late.begin,
    admin: options.admin,
    ...(guard ? { restored } : {}),
    // The pool is the application's own.
    async [Symbol.asyncDispose]() {
      late.close()
    },
  }
}

function fenceIn({ fence }: Row): bigint {
  return BigInt(fence as string)
}

function standing(row: Row | undefined): Seen {
  return seenFrom(row === undefined || row.k === null ? undefined : (row as unknown as RecordRow))
}
