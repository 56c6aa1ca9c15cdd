// A database of its own for a test file under node:test, with the tables of its effects; dropped when the file ends.
import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { createConnection } from 'mysql2/promise'
import { type MysqlOptions, mysql } from 'oncekey/mysql'
import { type Database, type PostgresOptions, postgres, type TransactionalStore } from 'oncekey/postgres'
import pg from 'pg'

type Rows = readonly Record<string, unknown>[]
export interface Fresh {
  readonly url: string
  /** On a connection of its own. */
  ask(sql: string): Promise<Rows>
}
export interface Ground {
  fresh(): Fresh
  store<Tx>(database: Database<Tx>, options?: PostgresOptions & MysqlOptions): TransactionalStore<Tx>
  readonly record: string
  /** An identity as SQL writes it. */
  key(id: string): string
}

export const onPostgres: Ground = {
  fresh: () =>
    fresh('ONCEKEY_TEST_POSTGRES', {
      ask: askPostgres,
      tables: [
        'create table effect (mark text not null)',
        'create table account (id serial primary key, owner text unique)',
      ],
      drop: (name) => `drop database ${name} with (force)`,
    }),
  store: (database, options) => postgres(database, options),
  record: 'oncekey.record',
  key: (id) => `'${id}'`,
}

export const onMariadb: Ground = {
  fresh: () =>
    fresh('ONCEKEY_TEST_MARIADB', {
      ask: askMariadb,
      tables: [
        'create table effect (mark varchar(200) not null)',
        'create table account (id integer auto_increment primary key, owner varchar(200) unique)',
      ],
      drop: (name) => `drop database ${name}`,
    }),
  store: (database, options) => mysql(database, options),
  record: 'oncekey_record',
  key: (id) => `unhex('${id.replaceAll('-', '')}')`,
}

interface Kind {
  ask(url: string, sql: string): Promise<Rows>
  readonly tables: readonly string[]
  drop(name: string): string
}

function fresh(variable: string, { ask, tables, drop }: Kind): Fresh {
  const server = process.env[variable]
  if (server === undefined) throw new Error(`${variable} is not set`)
  const name = `t_${randomBytes(6).toString('hex')}`
  const url = new URL(server)
  url.pathname = `/${name}`
  before(async () => {
    await ask(server, `create database ${name}`)
    for (const table of tables) await ask(url.href, table)
  })
  after(() => ask(server, drop(name)))
  return { url: url.href, ask: (sql) => ask(url.href, sql) }
}

async function askPostgres(url: string, sql: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function askMariadb(uri: string, sql: string): Promise<Rows> {
  const connection = await createConnection({ uri })
  connection.on('error', () => {})
  try {
    return (await connection.query(sql))[0] as unknown as Rows
  } finally {
    connection.destroy()
  }
}
