/** T4: thousands of contended keys, on MariaDB and with MySQL's statements: one start each, and no wrong answer. */
import type { PoolConnection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { contend } from '../../../../../test/support/contention.ts'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { saying } from '../../../../../test/support/mysql-saying.ts'
import { mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { databaseOnly } from '../../core/policy.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { mysql } from './index.ts'

describeMariadb('contended keys on MariaDB', () => {
  const place = mysqlPlace()
  const database = () => fromMysql2(place.open(undefined, { connectionLimit: 12 }))
  const asMysql = () => {
    const pool = place.open(undefined, { connectionLimit: 12 })
    return fromMysql2<PoolConnection>({ getConnection: async () => saying(await pool.getConnection(), '8.4.0') })
  }

  it.each([
    ['first', 3_000, database],
    ['locked', 1_000, database],
    ["first, with MySQL's statements", 500, asMysql],
  ] as const)('transaction mode (read: %s): %i keys × 6 callers', { timeout: 900_000 }, async (read, keys, over) => {
    const how = { read: read === 'locked' ? read : ('first' as const), claimMs: '10s' as const }
    const stores = [mysql(over(), how), mysql(over(), how)]
    const { starts, same, other } = await contend({ stores, keys, callers: 6, changed: 2 })
    expect(starts).toBe(keys)
    expect(same.ran).toBe(keys)
    expect(Object.keys(same).filter((kind) => !['ran', 'busy', 'replayed'].includes(kind))).toEqual([])
    expect(Object.keys(other)).toEqual(['mismatch'])
  })

  it('lease mode: 1000 keys × 6 callers', { timeout: 900_000 }, async () => {
    const lease = { mode: 'lease', claimMs: '10s', ...databaseOnly } as const
    const stores = [mysql(database(), lease), mysql(database(), lease)]
    const { starts, same, other } = await contend({ stores, keys: 1_000, callers: 6, changed: 2 })
    expect(starts).toBe(1_000)
    expect(Object.keys(same).filter((kind) => !['ran', 'busy', 'replayed'].includes(kind))).toEqual([])
    expect(Object.keys(other)).toEqual(['mismatch'])
  })

  it('one key in both modes at once: one start', async () => {
    const lease = { mode: 'lease', claimMs: '10s', ...databaseOnly } as const
    const stores = [mysql(database(), { claimMs: '10s' }), mysql(database(), lease)]
    const { starts, other } = await contend({ stores: stores as never, keys: 300, callers: 6, changed: 2 })
    expect(starts).toBe(300)
    expect(Object.keys(other)).toEqual(['mismatch'])
  })
})
