/** The lease port on MySQL: each write of the protocol's table is one statement, and one fsync. */
import { type Judged, judge, type Seen } from '../../core/record.ts'
import type { Admin, ClaimWon, Held, LeaseDriver, Owned } from '../../core/store.ts'
import type { Database, Statement } from '../database/database.ts'
import { mysqlError } from '../database/mysql-error.ts'
import type { BeginningDriver } from '../leased.ts'
import { type RecordRow, STATE, seenFrom } from '../row.ts'
import { lateTransactions } from './late-transaction.ts'
import { namesWith } from './names.ts'
import type { SchemaGuard } from './schema-guard.ts'
import { findLocked } from './statements/admin/read.ts'
import { holder, holderApart } from './statements/holder.ts'
import { claim } from './statements/lease/claim.ts'
import { complete } from './statements/lease/complete.ts'
import { hold } from './statements/lease/hold.ts'
import { endNow, releaseFree } from './statements/lease/release-free.ts'
import { releaseRetry } from './statements/lease/release-retry.ts'
import { renew } from './statements/lease/renew.ts'
import { abandon, take } from './statements/lease/take.ts'
import { look } from './statements/look.ts'
import { probe } from './statements/try-locks.ts'
import { untilDecided } from './until-decided.ts'

export interface LeaseOptions {
  readonly prefix: string
  readonly admin: Admin
  /** Asked before each claim; rejects where this build must not run on the tables (I4). */
  readonly guard: Pick<SchemaGuard, 'start' | 'restored' | 'mariadb'>
  /** How many transactions of `begin()` are open at once. The rest of the pool stays free for claims, beats and answers. */
  readonly maxWinners?: number
  /** A database over connections that nobody else uses, for beats (L1); one connection is enough. */
  readonly beats?: Pick<Database<never>, 'query'>
}

/** A row like that is taken, or written unknown: what it is by then is judged under its lock. */
const TAKEABLE: readonly Judged['kind'][] = ['runnable', 'abandoned', 'own']
/** MariaDB's and MySQL's word for a row that somebody else has. */
const REFUSED_AT_ONCE = [1205, 3572]

export function leaseDriver<Tx>(database: Database<Tx>, options: LeaseOptions): BeginningDriver<Tx> {
  const { beats = database, guard } = options
  const names = namesWith(options.prefix)

  /** On a copy that follows another server it is an error (T14): what a copy does not know yet may have happened. */
  async function read(id: string): Promise<Seen> {
    const [row] = await database.query(look(names, id))
    if (row && Number(row.on_primary) !== 1) throw new Error('this server is read only')
    return seenFrom(row as RecordRow | undefined)
  }

  /** Refused, it answers what stands there; the bracket recognises its own token in that (S2). */
  function write({ id }: Held, statements: readonly Statement[], on: Pick<Database<never>, 'query'> = database) {
    return untilDecided<'done' | Seen>(id, async function send() {
      for (const statement of statements) {
        const [written] = await on.query(statement)
        if (Number(written?.affected) > 0) return 'done'
      }
      return read(id)
    })
  }

  async function insert(wanted: Owned): Promise<ClaimWon | Seen | undefined> {
    try {
      if (!guard.mariadb) await database.query(probe(names, wanted.id))
      const [written] = await database.query(claim(names, wanted, guard.mariadb))
      return { kind: 'won', fence: BigInt(written?.inserted as number), takenOver: false, fresh: true }
    } catch (error) {
      if (REFUSED_AT_ONCE.includes(mysqlError(error)?.errno ?? 0)) return inTransaction(wanted)
      throw error
    }
  }

  /** A transaction of the other mode is at work on it: it is told as what it is, running. */
  async function inTransaction({ id, prints }: Owned): Promise<Seen | undefined> {
    const [found] = await database.query((guard.mariadb ? holder : holderApart)(names, { id, prints }))
    if (Number(found?.at_work) !== 1) return undefined
    return {
      kind: 'record',
      record: { id, state: 'running' },
      print: String(found?.print),
      over: false,
      leaseLeftMs: 1,
      ageMs: 1,
      onAbandoned: 'hold',
    }
  }

  /** The row is judged under its lock, in its newest version: of many takers one finds it takeable. */
  function takeOver(wanted: Owned): Promise<ClaimWon | Seen | undefined> {
    const { id, prints, token } = wanted
    return database.transaction<ClaimWon | Seen | undefined>(
      [findLocked(names, id)],
      async function underLock(_tx, [found]) {
        const row = found?.[0] as RecordRow | undefined
        const seen = seenFrom(row)
        if (row === undefined || seen.kind === 'absent') return { rollback: true, value: undefined, settled: true }
        switch (judge(seen, prints, token).kind) {
          case 'runnable': {
            const fence = nextFence(row)
            const takenOver = !seen.over && Number(row.state) === STATE.takeover
            const won = { kind: 'won', fence, takenOver, fresh: seen.over } as const
            return { commit: [take(names, wanted, { fence, fresh: seen.over })], value: won }
          }
          case 'own': {
            const fence = BigInt(row.fence ?? 0)
            const won = { kind: 'won', fence, takenOver: false, fresh: false } as const
            return { commit: [take(names, wanted, { fence, fresh: false })], value: won }
          }
          case 'abandoned':
            return { commit: [abandon(names, id)], value: undefined }
          default:
            return { rollback: true, value: seen, settled: true }
        }
      },
    )
  }

  const late = lateTransactions(database, { names, hold: driverHold, read, ...options })
  function driverHold(mine: Held, why: string) {
    return write(mine, [hold(names, mine, why)])
  }

  return {
    name: 'mysql',
    async claim(wanted) {
      await guard.start()
      return untilDecided<ClaimWon | Seen>(wanted.id, async function lookThenTake() {
        const seen = await read(wanted.id)
        if (seen.kind === 'absent') return insert(wanted)
        if (!TAKEABLE.includes(judge(seen, wanted.prints, wanted.token).kind)) return seen
        return takeOver(wanted)
      })
    },
    complete: (mine, kept) => write(mine, [complete(names, mine, kept)]),
    renew: (mine) => write(mine, [renew(names, mine)], beats),
    release: (mine, to) =>
      write(mine, to === 'free' ? [releaseFree(names, mine), endNow(names, mine)] : [releaseRetry(names, mine)]),
    hold: driverHold,
    read,
    begin: late.begin,
    async restored() {
      await guard.start()
      return guard.restored()
    },
    admin: options.admin,
    // The pool is the application's own.
    async [Symbol.asyncDispose]() {
      late.close()
    },
  } satisfies LeaseDriver<Tx>
}

/** Higher than the one before, and otherwise the server's clock (S3). */
function nextFence({ fence, now_us }: RecordRow): bigint {
  const now = BigInt(now_us)
  const last = fence === null ? 0n : BigInt(fence)
  return last >= now ? last + 1n : now
}
