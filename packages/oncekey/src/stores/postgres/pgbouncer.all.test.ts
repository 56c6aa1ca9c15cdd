/** Behind PgBouncer in transaction mode: nothing of ours may lean on a session, and names of statements are given up (T6, O-17). */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { contractIn } from '../../../../../test/support/adapter-contract.ts'
import { describePgbouncer, throughPgbouncer } from '../../../../../test/support/pgbouncer.ts'
import { freshDatabase, onPostgres } from '../../../../../test/support/postgres.ts'
import { adapters, type Opened } from '../../../../../test/support/postgres-adapters.ts'
import { postgres } from './index.ts'

const unnamed = adapters.filter(({ name }) => !name.includes('prepared'))

describePgbouncer.each(unnamed)('PgBouncer, reached through $name', ({ name, open }) => {
  const fresh = freshDatabase()
  let opened: Opened

  beforeAll(async () => {
    opened = open(throughPgbouncer(fresh.url), 10)
    await postgres(opened.database, { schema: 'kept' }).admin.migrate()
    await onPostgres('create table kept.effect (mark text not null)', fresh.url)
  })
  beforeEach(async () => {
    await onPostgres('delete from kept.record', fresh.url)
  })
  afterAll(() => opened.end())

  contractIn({
    name: `Postgres, transaction mode, by ${name}, behind PgBouncer`,
    schema: 'kept',
    direct: () => fresh.url,
    opened: () => opened,
  })

  it('names no statement of ours on a server connection', async () => {
    const named = {
      text: "select count(*)::int as n from pg_prepared_statements where statement like '%kept%'",
      params: [],
    }
    const counts = await Promise.all(Array.from({ length: 10 }, () => opened.database.query(named)))
    expect(counts.map(([row]) => row?.n)).toEqual(Array.from({ length: 10 }, () => 0))
  })
})
