// Runs the snippets of the query libraries, on Postgres and on MariaDB.
import { randomUUID } from 'node:crypto'
import knex from 'knex'
import { createPool } from 'mysql2'
import { type Operation, type Outcome, once } from 'oncekey'
import { fromPg, postgres } from 'oncekey/postgres'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeMariadb, freshMariadb, onMariadb } from '../../../test/support/mariadb.ts'
import { describePostgres, freshDatabase } from '../../../test/support/postgres.ts'
import { byDrizzle } from './drizzle.ts'
import { byKnex } from './knex.ts'
import { byKysely, byKyselyOnMysql } from './kysely.ts'

type OpenAccount = (operation: Operation, owner: string) => Promise<Outcome<unknown>>

describePostgres('an account is opened once', () => {
  const database = freshDatabase()
  let pool: pg.Pool

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: database.url, max: 5 })
    pool.on('error', () => {})
    await postgres(fromPg(pool)).admin.migrate()
    await pool.query('create table account (id serial primary key, owner text)')
  })
  afterAll(() => pool.end())

  async function opensOnce(openAccount: OpenAccount): Promise<void> {
    const owner = randomUUID()
    const operation = { scope: 'shop', key: owner, fingerprints: ['open'] as const }
    const first = await openAccount(operation, owner)
    expect(first).toMatchObject({ kind: 'ran', value: { id: expect.any(Number) } })
    expect(await openAccount(operation, owner)).toMatchObject({
      kind: 'replayed',
      value: (first as { value: unknown }).value,
    })
    expect((await pool.query('select 1 from account where owner = $1', [owner])).rowCount).toBe(1)
  }

  it('by Kysely', () => opensOnce(byKysely(pool).openAccount))

  it('by Drizzle', () => opensOnce(byDrizzle(pool).openAccount))

  it('by Knex', async () => {
    const over = knex({ client: 'pg', connection: database.url, pool: { min: 0, max: 5 } })
    await opensOnce(byKnex(over).openAccount)
    await over.destroy()
  })
})

describeMariadb('on MariaDB', () => {
  const database = freshMariadb()

  it('by Kysely', async () => {
    await onMariadb('create table account (id integer auto_increment primary key, owner text)', database.url)
    const { db, store } = byKyselyOnMysql(createPool({ uri: database.url }))
    await store.admin.migrate()
    const operation = { scope: 'shop', key: randomUUID(), fingerprints: ['open'] as const }
    const open = () =>
      once(store, operation, async ({ tx }) => {
        const { insertId } = await tx.insertInto('account').values({ owner: 'ada' }).executeTakeFirstOrThrow()
        return { id: Number(insertId) }
      })
    expect(await open()).toMatchObject({ kind: 'ran', value: { id: 1 } })
    expect(await open()).toMatchObject({ kind: 'replayed', value: { id: 1 } })
    expect(await onMariadb('select owner from account', database.url)).toHaveLength(1)
    await store[Symbol.asyncDispose]()
    await db.destroy()
  })
})
