/** Migrations, and what a store refuses to run on. */
import type { Pool, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeMariadb, freshMariadb, onMariadb, poolAt } from '../../../../../test/support/mariadb.ts'
import { never, operation } from '../../../../../test/support/mysql-charges.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { mysql } from './index.ts'
import { migrate } from './migrate.ts'
import { migrations, SCHEMA_VERSION } from './migrations/index.ts'

describeMariadb('the tables on MariaDB', () => {
  const fresh = freshMariadb()
  let pool: Pool

  beforeAll(() => {
    pool = poolAt(fresh.url)
  })
  afterAll(() => pool.end())

  const both = (prefix: string) => [
    mysql(fromMysql2(pool), { prefix }),
    mysql(fromMysql2(pool), { prefix, mode: 'lease', ...databaseOnly }),
  ]
  const attempt = (store: ReturnType<typeof both>[number]) => once(store as never, operation(), never)

  it('ten processes that migrate at once leave one schema, and no lock', async () => {
    await Promise.all(Array.from({ length: 10 }, () => mysql(fromMysql2(pool), { prefix: 'many_' }).admin.migrate()))
    const [steps] = await pool.query<RowDataPacket[]>('select version from many_migration order by version')
    expect(steps.map(({ version }) => version)).toEqual(migrations.map(({ version }) => version))
    const [epochs] = await pool.query('select epoch from many_meta')
    expect(epochs).toHaveLength(1)
    const [free] = await pool.query<RowDataPacket[]>(
      "select is_free_lock(concat('oncekey ', md5(concat(database(), '/many_')))) as free",
    )
    expect(free).toEqual([{ free: 1 }])
  })

  it('a migration over a pool of one, also when it fails, leaves the lock free', async () => {
    const single = poolAt(fresh.url, { connectionLimit: 1 })
    const broken = { version: SCHEMA_VERSION + 1, name: 'broken', statements: () => ['create table'] }
    const database = fromMysql2(single)
    await expect(migrate(database, { prefix: 'single_', steps: [...migrations, broken] })).rejects.toThrow()
    await migrate(fromMysql2(pool), { prefix: 'single_' })
    await single.end()
  })

  it('what was done by a migration that broke off is done again without harm', async () => {
    await mysql(fromMysql2(pool), { prefix: 'half_' }).admin.migrate()
    await pool.query('delete from half_migration')
    await mysql(fromMysql2(pool), { prefix: 'half_' }).admin.migrate()
    const [metas] = await pool.query('select * from half_meta')
    expect(metas).toHaveLength(1)
  })

  describe('what is refused', () => {
    it.each([
      ['there are none', undefined, 'SCHEMA_MISSING'],
      ['they are for later releases', 'update refused_meta set min_reader = 9', 'SCHEMA_TOO_NEW'],
      [
        'they name records in another way',
        'update refused_meta set min_reader = 1, identity_scheme = 2',
        'SCHEMA_MISMATCH',
      ],
    ])('tables where %s', async (_, change, code) => {
      if (change) {
        await mysql(fromMysql2(pool), { prefix: 'refused_' }).admin.migrate()
        await pool.query(change)
      }
      for (const store of both('refused_')) await expect(attempt(store)).rejects.toMatchObject({ code })
    })

    it('another epoch than at the start, at the next sweep and from then on (I4)', async () => {
      const [store, other] = [
        mysql(fromMysql2(pool), { prefix: 'many_' }),
        mysql(fromMysql2(pool), { prefix: 'many_' }),
      ]
      expect((await once(store, operation(), async () => 1)).kind).toBe('ran')
      expect((await once(other, operation(), async () => 1)).kind).toBe('ran')
      await other.admin.restored({ who: 'me', why: 'a backup', onEpochChange: 'run' })
      await expect(store.admin.sweep()).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
      await expect(attempt(store)).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
      expect((await other.admin.sweep()).complete).toBe(true)
      expect((await once(other, operation(), async () => 1)).kind).toBe('ran')
    })

    it('sessions without autocommit', async () => {
      const without = poolAt(fresh.url, { connectionLimit: 1 })
      await without.query('set session autocommit = 0')
      const store = mysql(fromMysql2(without), { prefix: 'many_', maxWinners: 1 })
      await expect(attempt(store)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      await without.end()
    })

    it.each(['', 'a`b', 'ü_', `${'x'.repeat(51)}`, 'db.oncekey_'])('%j as a prefix', (prefix) => {
      expect(() => mysql(fromMysql2(pool), { prefix })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    })
  })

  it('T14: a user that may only read, and a session that prefers to', async () => {
    const name = new URL(fresh.url).pathname.slice(1)
    await mysql(fromMysql2(pool), { prefix: 'oncekey_' }).admin.migrate()
    await onMariadb(`create user ${name}@'127.0.0.1'; `.replace('; ', ''))
    await onMariadb(`grant select on ${name}.* to ${name}@'127.0.0.1'`)
    const url = new URL(fresh.url)
    url.username = name
    const reader = poolAt(url.href)
    for (const store of [mysql(fromMysql2(reader)), mysql(fromMysql2(reader), { mode: 'lease', ...databaseOnly })])
      await expect(attempt(store as never)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await reader.end()
    await onMariadb(`drop user ${name}@'127.0.0.1'`)
    // READ WRITE is asked for by the transaction itself.
    const single = poolAt(fresh.url, { connectionLimit: 1 })
    await single.query('set session tx_read_only = 1')
    const store = mysql(fromMysql2(single), { maxWinners: 1 })
    expect((await once(store, operation(), async () => 1)).kind).toBe('ran')
    const leased = mysql(fromMysql2(single), { mode: 'lease', maxWinners: 1, ...databaseOnly })
    await expect(attempt(leased)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await single.end()
  })
})
