import { expect, it } from 'vitest'
import { describePostgres, freshDatabase, freshSchema, onPostgres } from './postgres.ts'

describePostgres('the PostgreSQL that tests run against', () => {
  const database = freshDatabase()
  const { schema } = freshSchema()

  it('is durable, as in production', async () => {
    expect((await onPostgres('show fsync')).rows).toEqual([{ fsync: 'on' }])
    expect((await onPostgres('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
  })

  it('has room for 200 racers', async () => {
    const [row] = (await onPostgres('show max_connections')).rows
    expect(Number(row.max_connections)).toBeGreaterThanOrEqual(220)
  })

  it('gives each file a schema and a database of its own', async () => {
    const found = await onPostgres(`select 1 from pg_namespace where nspname = '${schema}'`)
    expect(found.rowCount).toBe(1)
    const [row] = (await onPostgres('select current_database() as name', database.url)).rows
    expect(`/${row.name}`).toBe(new URL(database.url).pathname)
  })
})
