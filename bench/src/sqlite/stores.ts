// Our stores on a SQLite file, and the work behind them.
import Database from 'libsql'
import { databaseOnly, type InTransaction, type LeasedInDatabase } from 'oncekey'
import { sqlite } from 'oncekey/sqlite'
import { answerOf } from '../ours.ts'
import { CHARGES, type Durability, INSERT } from './ground.ts'

export type Tx = Database.Database

export async function storesIn(file: (name: string) => string, durability: Durability) {
  const options = { driver: Database, durability, setUp: (db: Tx) => db.exec(CHARGES) } as const
  const transaction = sqlite(file('t.db'), options)
  const lease = sqlite(file('l.db'), { ...options, mode: 'lease', ...databaseOnly })
  // Files are opened by their first use, which is not to be measured.
  await Promise.all([transaction.admin.stats(), lease.admin.stats()])
  return {
    transaction,
    lease,
    async [Symbol.asyncDispose]() {
      await transaction[Symbol.asyncDispose]()
      await lease[Symbol.asyncDispose]()
    },
  }
}

export async function inTransaction({ tx }: Pick<InTransaction<Tx>, 'tx'>) {
  return answerOf(charge(tx))
}
export async function inLease({ begin }: Pick<LeasedInDatabase<Tx>, 'begin'>) {
  return answerOf(charge(await begin()))
}

export function charge(tx: Tx, account = 'acct'): number {
  return Number(tx.prepare(INSERT).run(account, 2500, 'usd', Date.now() / 1_000).lastInsertRowid)
}
