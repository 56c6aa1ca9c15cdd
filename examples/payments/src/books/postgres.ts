// The books in Postgres, in the same database as the keys.
import type { Pool, PoolClient } from 'pg'
import { type Books, type ChargeRow, chargeFrom, rowOf } from './books.ts'

const CREATE = `
  create table if not exists charge (
    id          bigint  generated always as identity primary key,
    account     text    not null,
    amount      integer not null check (amount > 0),
    currency    text    not null,
    card        text    not null,
    captured    boolean not null default false,
    description text,
    metadata    text,
    movement    text
  )`

export async function postgresBooks(pool: Pool): Promise<Books<PoolClient>> {
  // Two servers may start at once, and `if not exists` alone loses that race.
  await pool.query(`begin; select pg_advisory_xact_lock(7236501); ${CREATE}; commit`)
  const first = ({ rows }: { rows: ChargeRow[] }) => (rows[0] ? chargeFrom(rows[0]) : undefined)

  return {
    async add(tx, { account, amount, currency, card, description, metadata, movement }) {
      const inserted = await tx.query<ChargeRow>(
        `insert into charge (account, amount, currency, card, description, metadata, movement)
         values ($1, $2, $3, $4, $5, $6, $7) returning *`,
        [account, amount, currency, card, description, metadata, movement],
      )
      return chargeFrom(inserted.rows[0] as ChargeRow)
    },
    async describe(tx, account, id, description) {
      const text = 'update charge set description = $3 where account = $1 and id = $2 returning *'
      return first(await tx.query<ChargeRow>(text, [account, rowOf(id), description]))
    },
    async capture(tx, account, id) {
      const text = 'update charge set captured = true where account = $1 and id = $2 returning *'
      return first(await tx.query<ChargeRow>(text, [account, rowOf(id)]))
    },
    async get(account, id) {
      return first(
        await pool.query<ChargeRow>('select * from charge where account = $1 and id = $2', [account, rowOf(id)]),
      )
    },
    async list(account) {
      const { rows } = await pool.query<ChargeRow>('select * from charge where account = $1 order by id', [account])
      return rows.map(chargeFrom)
    },
    async [Symbol.asyncDispose]() {},
  }
}
