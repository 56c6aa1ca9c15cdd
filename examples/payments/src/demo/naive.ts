// The version that races: look for the key, do the work, then record the key. It passes a test with one request and one retry. Don't ship it.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import pg from 'pg'
import { close } from '../bank/bank.ts'
import type { Stage } from './stage.ts'

interface Table extends AsyncDisposable {
  has(key: string): Promise<boolean>
  addCharge(): Promise<void>
  addKey(key: string): Promise<void>
  count(): Promise<number>
}
export interface Naive extends AsyncDisposable {
  readonly url: string
  count(): Promise<number>
}

export async function startNaive(store: string, kind: Stage['kind']): Promise<Naive> {
  const table = kind === 'sqlite' ? inSqlite(store.slice('sqlite:'.length)) : await inPostgres(store)
  const server = createServer(async (request, response) => {
    const key = String(request.headers['idempotency-key'])
    await drain(request)
    try {
      if (!(await table.has(key))) {
        await sleep(50) // stands for the card network
        await table.addCharge()
        await table.addKey(key) // the primary key fires here, after the charge
      }
      response.writeHead(201).end('{}')
    } catch {
      response.writeHead(500).end('{}')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => table.count(),
    async [Symbol.asyncDispose]() {
      await close(server)
      await table[Symbol.asyncDispose]()
    },
  }
}

function inSqlite(path: string): Table {
  const db = new Database(path)
  db.exec(
    'pragma journal_mode = wal; create table naive_key (key text primary key); create table naive_charge (id integer primary key)',
  )
  return {
    has: async (key) => db.prepare('select 1 from naive_key where key = ?').get(key) !== undefined,
    addCharge: async () => void db.prepare('insert into naive_charge default values').run(),
    addKey: async (key) => void db.prepare('insert into naive_key (key) values (?)').run(key),
    count: async () => (db.prepare('select count(*) as count from naive_charge').get() as { count: number }).count,
    [Symbol.asyncDispose]: async () => void db.close(),
  }
}

async function inPostgres(url: string): Promise<Table> {
  const pool = new pg.Pool({ connectionString: url, max: 20 })
  pool.on('error', () => {})
  await pool.query(
    'create table naive_key (key text primary key); create table naive_charge (id bigint generated always as identity)',
  )
  return {
    has: async (key) => (await pool.query('select 1 from naive_key where key = $1', [key])).rows.length > 0,
    addCharge: async () => void (await pool.query('insert into naive_charge default values')),
    addKey: async (key) => void (await pool.query('insert into naive_key (key) values ($1)', [key])),
    count: async () => Number((await pool.query('select count(*) from naive_charge')).rows[0].count),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

async function drain(request: IncomingMessage): Promise<void> {
  for await (const _ of request);
}
