/** The lease port on SQLite: each step looks and writes under the write lock, and a repeat is answered by the connection that reads. */
import { judge, type Seen } from '../../core/record.ts'
import type { Admin, ClaimWon, Held, LeaseDriver, Owned } from '../../core/store.ts'
import type { Statement } from '../database/database.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { SqliteConnection } from './driver.ts'
import { unavailable } from './failure.ts'
import type { SqliteFile, Writer } from './file.ts'
import { lateTransactions } from './lease-transaction.ts'
import type { Sql } from './sql.ts'
import { statementsOn } from './statements/index.ts'
import type { Mine } from './statements/mine.ts'

export type SqliteLease<Tx> = LeaseDriver<Tx> & Required<Pick<LeaseDriver<Tx>, 'begin'>>

export function sqliteLease<Tx extends SqliteConnection>(file: SqliteFile<Tx>, admin: Admin): SqliteLease<Tx> {
  const statements = statementsOn(file.tables)
  const late = lateTransactions(file, statements)

  async function read(id: string): Promise<Seen> {
    const row = await file.read(statements.read(id))
    return seenFrom(row as RecordRow | undefined)
  }
  function look(sql: Sql, id: string): Seen {
    return seenFrom(sql.get(statements.read(id)) as RecordRow | undefined)
  }

  async function claim(wanted: Owned): Promise<ClaimWon | Seen> {
    const { id, prints, token, label } = wanted
    await file.restored()
    const before = await read(id)
    const first = judge(before, prints, token).kind
    if (first !== 'runnable' && first !== 'abandoned') return before
    return file.write(async function decide(writer) {
      const seen = look(writer, id)
      const judged = judge(seen, prints, token)
      if (judged.kind === 'abandoned') {
        writer.run(statements.abandon(id, label))
        const now = look(writer, id)
        await writer.commit()
        return now
      }
      if (judged.kind !== 'runnable') return seen
      const fence = take(writer, wanted)
      await writer.commit()
      const there = seen.kind === 'record' && !seen.over
      return { kind: 'won', fence, fresh: !there, takenOver: there && seen.record.state === 'running' }
    })
  }

  /** What fails here is definite; only COMMIT can leave a claim in doubt, and its own token then tells (S2). */
  function take(writer: Sql, wanted: Owned): bigint {
    try {
      const fence = BigInt(writer.get(statements.nextFence)?.fence as number)
      writer.run(statements.claim({ ...wanted, fence }))
      return fence
    } catch (error) {
      throw unavailable(error, file.path)
    }
  }

  /** One step on a claim that is ours; refused, it answers what stands there instead. */
  async function step(mine: Mine, statement: Statement): Promise<'done' | Seen> {
    await late.rollback(mine.id, mine.token)
    return file.write(async function change(writer: Writer<Tx>) {
      if (writer.run(statement) === 0) return look(writer, mine.id)
      await writer.commit()
      return 'done' as const
    })
  }

  return {
    name: 'sqlite',
    admin,
    restored: file.restored,
    read,
    claim,
    begin: late.begin,
    complete: (mine, kept) => step(mine, statements.finish(mine, kept)),
    // The write lock, while we hold it, keeps everybody out better than a lease could.
    renew: (mine) => (late.isOpen(mine.id, mine.token) ? Promise.resolve('done') : renewing(mine)),
    release: (mine, to) => step(mine, to === 'free' ? statements.releaseFree(mine) : statements.releaseRetry(mine)),
    hold: (mine, why) => step(mine, statements.hold(mine, why)),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  }

  function renewing(mine: Held): Promise<'done' | Seen> {
    return file.write(async function beat(writer: Writer<Tx>) {
      if (writer.run(statements.renew(mine)) === 0) return look(writer, mine.id)
      await writer.commit()
      return 'done' as const
    })
  }
}
