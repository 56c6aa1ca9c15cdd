import { databaseOnly } from 'oncekey'
import { fromPg, postgres } from 'oncekey/postgres'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { type Arena, type Ground, type Mode, unused } from '../charges/charging.ts'
import { onPostgres, postgresUrl } from '../postgres.ts'

export const postgresArenas: readonly Arena[] = (['transaction', 'lease'] as const).map((mode) => ({
  name: 'Postgres',
  mode,
  effect: 'inside',
  ground: () => ground(mode),
}))

async function ground(mode: Mode): Promise<Ground> {
  const schema = unused()
  await onPostgres(`create schema ${schema};
    create table ${schema}.charge (id bigint generated always as identity, amount integer not null);
    create table ${schema}.start (id bigint generated always as identity)`)
  onTestFinished(async () => void (await onPostgres(`drop schema ${schema} cascade`)))
  await migrate(schema, mode)
  const count = async (table: string) =>
    Number((await onPostgres(`select count(*) as n from ${schema}.${table}`)).rows[0].n)
  return { env: { STORE: postgresUrl(), SCHEMA: schema }, charges: () => count('charge'), starts: () => count('start') }
}

async function migrate(schema: string, mode: Mode): Promise<void> {
  const pool = new pg.Pool({ connectionString: postgresUrl(), max: 2 })
  const database = fromPg(pool)
  const store =
    mode === 'transaction' ? postgres(database, { schema }) : postgres(database, { schema, mode, ...databaseOnly })
  await store.admin.migrate()
  await store[Symbol.asyncDispose]()
  await pool.end()
}
