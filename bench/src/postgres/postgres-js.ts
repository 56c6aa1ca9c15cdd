// The same on postgres.js, beside an INSERT and a SELECT of its own: drivers differ more than protocols do.
import { randomUUID } from 'node:crypto'
import type { InTransaction, Store } from 'oncekey'
import { fromPostgresJs, postgres } from 'oncekey/postgres'
import connect, { type Sql, type TransactionSql } from 'postgres'
import { type Contender, sideBySide } from '../measure.ts'
import { answerOf, ours } from '../ours.ts'
import { ratio, rowsOf, type Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { ground } from './ground.ts'

const T = 'T on postgres.js'
const T_NAMED = 'T on postgres.js, named statements'
const CONNECTIONS = 5
const STORED = 500

export async function postgresJs(server: string, { rounds, quick }: Settings): Promise<readonly Section[]> {
  await using base = await ground(server, CONNECTIONS)
  const sql = connect(base.url, { max: CONNECTIONS, onnotice: () => {} })
  try {
    const stores = {
      plain: postgres(fromPostgresJs(sql), { read: 'locked' }),
      named: postgres(fromPostgresJs(sql, { preparedStatements: true }), { read: 'locked' }),
    }
    await stores.plain.admin.migrate()
    const fresh = await sideBySide(newKeys(sql, stores), { rounds, operations: quick ? 30 : 250 })
    const repeated = await sideBySide(await replays(sql, stores), { rounds, operations: quick ? 60 : 500 })
    return [
      {
        title: 'PostgreSQL through postgres.js, a new key, one caller',
        rows: rowsOf(fresh),
        findings: [T, T_NAMED].map((name) => ratio(fresh, { name, must: 2.6, aim: 2.1 })),
      },
      {
        title: 'PostgreSQL through postgres.js, a repeat, one caller',
        rows: rowsOf(repeated),
        findings: [T, T_NAMED].map((name) => ratio(repeated, { name, must: 2.5, aim: 2 })),
      },
    ]
  } finally {
    await sql.end({ timeout: 5 })
  }
}

type InPostgresJs = Store<InTransaction<TransactionSql>>
type Stores = { readonly plain: InPostgresJs; readonly named: InPostgresJs }

function newKeys(sql: Sql, { plain, named }: Stores): readonly Contender[] {
  return [
    { name: 'INSERT alone', once: async () => charge(sql, 'floor_charges') },
    { name: T, once: () => ours(plain, randomUUID(), work, 'ran') },
    { name: T_NAMED, once: () => ours(named, randomUUID(), work, 'ran') },
  ]
}

async function replays(sql: Sql, { plain, named }: Stores): Promise<readonly Contender[]> {
  const ids: string[] = []
  const keys = Array.from({ length: STORED }, () => randomUUID())
  for (const key of keys) {
    ids.push(await charge(sql, 'floor_charges'))
    await ours(plain, key, work, 'ran')
  }
  const any = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)] as Item
  return [
    { name: 'SELECT by primary key', once: async () => sql`select * from floor_charges where id = ${any(ids)}` },
    { name: T, once: () => ours(plain, any(keys), work, 'replayed') },
    { name: T_NAMED, once: () => ours(named, any(keys), work, 'replayed') },
  ]
}

async function work({ tx }: InTransaction<TransactionSql>) {
  return answerOf(await charge(tx, 'charges'))
}

async function charge(sql: Sql | TransactionSql, table: 'charges' | 'floor_charges'): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into ${sql(table)} (client_id, amount, currency) values ('client', ${2500}, 'usd') returning id`
  if (!row) throw new Error('no row came back')
  return row.id
}
