import { expect, it } from 'vitest'
import { describePgbouncer, throughPgbouncer } from './pgbouncer.ts'
import { freshDatabase, onPostgres } from './postgres.ts'

describePgbouncer('the PgBouncer in front of it', () => {
  const database = freshDatabase()

  it('reaches a fresh database, and pools by transaction', async () => {
    const url = throughPgbouncer(database.url)
    const [row] = (await onPostgres('select current_database() as name', url)).rows
    expect(`/${row.name}`).toBe(new URL(database.url).pathname)
    const admin = new URL(url)
    admin.pathname = '/pgbouncer'
    const { rows } = await onPostgres('show config', admin.href)
    expect(rows.find(({ key }) => key === 'pool_mode')?.value).toBe('transaction')
  })
})
