// The store contract over a library that installs apart from us, under node:test: in a database of its own, dropped at the end.
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { InTransaction } from 'oncekey'
import { type Database, type PostgresOptions, postgres } from 'oncekey/postgres'
import { type Settings, type Subject, storeContract } from 'oncekey/testing'
import pg from 'pg'

export interface Opened<Tx> {
  readonly database: Database<Tx>
  /** One statement of the user's through the handle. */
  run(tx: Tx, sql: string): Promise<unknown>
  end(): Promise<unknown>
}

/** A database with the tables of the store and `account` in it, while the tests of a file run. */
export function freshDatabase(): {
  readonly url: string
  ask(sql: string): Promise<readonly Record<string, unknown>[]>
} {
  const server = process.env.ONCEKEY_TEST_POSTGRES
  if (server === undefined) throw new Error('ONCEKEY_TEST_POSTGRES is not set')
  const name = `t_${randomBytes(6).toString('hex')}`
  const fresh = new URL(server)
  fresh.pathname = `/${name}`
  before(async () => {
    await on(server, `create database ${name}`)
    await on(
      fresh.href,
      'create table effect (mark text not null); create table account (id serial primary key, owner text unique)',
    )
  })
  after(() => on(server, `drop database ${name} with (force)`))
  return { url: fresh.href, ask: (sql) => on(fresh.href, sql) }
}

export function contractOver<Tx>(
  name: string,
  open: (url: string) => Promise<Opened<Tx>>,
  options: PostgresOptions = {},
) {
  describe('the store contract', () => {
    const { url, ask } = freshDatabase()
    let opened: Opened<Tx>

    before(async () => {
      opened = await open(url)
      await postgres(opened.database, options).admin.migrate()
    })
    // A sweep sees the whole table.
    beforeEach(() => ask('delete from oncekey.record'))
    after(() => opened.end())

    function make({ retain, work, claimMs, drain }: Settings): Subject<InTransaction<Tx>> {
      const told = Object.entries({ retain, work, claimMs, drain }).filter(([, value]) => value !== undefined)
      const factory = () => postgres(opened.database, { ...options, ...Object.fromEntries(told) })
      let store = factory()
      return {
        store,
        another: factory,
        async reopen() {
          await store[Symbol.asyncDispose]()
          store = factory()
          return store
        },
        effects: {
          write: async ({ tx }, mark) => void (await opened.run(tx, `insert into effect (mark) values ('${mark}')`)),
          count: async (mark) => (await ask(`select 1 from effect where mark = '${mark}'`)).length,
        },
        damage: async (id) => void (await ask(`update oncekey.record set state = 42 where k = '${id}'`)),
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      }
    }
    const shown = { clock: 'real', several: true, reopen: true, effects: true, damage: true } as const
    storeContract(make, { mode: 'transaction', ...shown, name }, { runner: { describe, it } as never })
  })
}

async function on(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
