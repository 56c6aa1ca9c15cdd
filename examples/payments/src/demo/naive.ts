// The version that races: look for the key, do the work, then record the key. It passes a test with one request and one retry. Don't ship it.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import pg from 'pg'

interface Table {
  has(key: string): Promise<boolean>
  addCharge(): Promise<void>
  addKey(key: string): Promise<void>
  charges(): Promise<readonly unknown[]>
}

const store = process.env.STORE ?? ''
const table = store.startsWith('sqlite:') ? inSqlite(store.slice('sqlite:'.length)) : await inPostgres(store)
const server = createServer(async (request, response) => {
  const key = String(request.headers['idempotency-key'])
  await drain(request)
  try {
    if (request.method === 'GET') {
      response.end(JSON.stringify(await table.charges()))
      return
    }
    if (!(await table.has(key))) {
      await sleep(600) // the card network, as slow as for the API beside it
      await table.addCharge()
      await table.addKey(key) // the primary key fires here, after the charge
    }
    response.writeHead(201).end('{}')
  } catch {
    response.writeHead(500).end('{}')
  }
})
server.listen(0, '127.0.0.1', () =>
  console.log(`check-then-insert on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
process.once('SIGTERM', () => process.exit(0))

function inSqlite(path: string): Table {
  const db = new Database(path)
  db.exec(
    'pragma journal_mode = wal; create table naive_key (key text primary key); create table naive_charge (id integer primary key)',
  )
  return {
    has: async (key) => db.prepare('select 1 from naive_key where key = ?').get(key) !== undefined,
    addCharge: async () => void db.prepare('insert into naive_charge default values').run(),
    addKey: async (key) => void db.prepare('insert into naive_key (key) values (?)').run(key),
    charges: async () => db.prepare('select id from naive_charge').all(),
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
    charges: async () => (await pool.query('select id from naive_charge')).rows,
  }
}

async function drain(request: IncomingMessage): Promise<void> {
  for await (const _ of request);
}
