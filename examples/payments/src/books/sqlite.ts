// The books in SQLite, in the same file as the keys; reads go over a connection of their own.
import Database from 'libsql'
import { type Books, type ChargeRow, chargeFrom, rowOf } from './books.ts'

const CREATE = `
  create table if not exists charge (
    id          integer primary key,
    account     text    not null,
    amount      integer not null check (amount > 0),
    currency    text    not null,
    card        text    not null,
    captured    integer not null default 0,
    description text,
    metadata    text,
    movement    text
  )`

export function sqliteBooks(path: string): Books<Database.Database> {
  const reading = new Database(path, { timeout: 5_000 })
  reading.exec('pragma journal_mode = wal')
  reading.exec(CREATE)
  const one = (row: unknown) => (row === undefined ? undefined : chargeFrom(row as ChargeRow))

  return {
    async add(tx, { account, amount, currency, card, description, metadata, movement }) {
      const insert = tx.prepare(
        `insert into charge (account, amount, currency, card, description, metadata, movement)
         values (?, ?, ?, ?, ?, ?, ?) returning *`,
      )
      return chargeFrom(insert.get(account, amount, currency, card, description, metadata, movement) as ChargeRow)
    },
    async describe(tx, account, id, description) {
      const update = tx.prepare('update charge set description = ? where account = ? and id = ? returning *')
      return one(update.get(description, account, rowOf(id) ?? null))
    },
    async capture(tx, account, id) {
      const update = tx.prepare('update charge set captured = 1 where account = ? and id = ? returning *')
      return one(update.get(account, rowOf(id) ?? null))
    },
    async get(account, id) {
      return one(reading.prepare('select * from charge where account = ? and id = ?').get(account, rowOf(id) ?? null))
    },
    async list(account) {
      return (reading.prepare('select * from charge where account = ? order by id').all(account) as ChargeRow[]).map(
        chargeFrom,
      )
    },
    async [Symbol.asyncDispose]() {
      reading.close()
    },
  }
}
