/** What an operation costs in flights: mysql2 sends a query only when the one before it was answered, so its queries are counted. */
import type { PoolConnection, PoolOptions } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { operation } from '../../../../../test/support/mysql-charges.ts'
import { saying } from '../../../../../test/support/mysql-saying.ts'
import { mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { mysql } from './index.ts'

const several: PoolOptions = { multipleStatements: true }

describeMariadb('flights, one work statement', () => {
  const place = mysqlPlace()

  function counting(options: PoolOptions, version: string) {
    const pool = place.open(undefined, options)
    const sent = { queries: 0 }
    const known = new WeakSet<object>()
    const database = fromMysql2<PoolConnection>({
      async getConnection() {
        const connection = await pool.getConnection()
        const { connection: beneath } = connection as unknown as { connection: { query(...args: unknown[]): unknown } }
        if (!known.has(beneath)) {
          known.add(beneath)
          const { query } = beneath
          beneath.query = (...args) => {
            sent.queries += 1
            return query.apply(beneath, args)
          }
        }
        return saying(connection, version)
      },
    })
    return { sent, database }
  }

  it.each([
    ['MariaDB', {}, '10.11.0-MariaDB', { first: 4, locked: 3 }],
    ['MySQL with multipleStatements', several, '8.4.0', { first: 4, locked: 3 }],
    ['MySQL', {}, '8.4.0', { first: 11, locked: 10 }],
  ] as const)('transaction mode on %s', async (_, options, version, wanted) => {
    const { sent, database } = counting(options, version)
    for (const read of ['first', 'locked'] as const) {
      const store = mysql(database, { read })
      const attempt = (charge: ReturnType<typeof operation>) =>
        once(store, charge, async ({ tx }) => {
          await place.write(tx, charge.key)
        })
      await attempt(operation())
      const charge = operation()
      const before = sent.queries
      expect((await attempt(charge)).kind).toBe('ran')
      expect(sent.queries - before).toBe(wanted[read])
      const again = sent.queries
      expect((await attempt(charge)).kind).toBe('replayed')
      if (read === 'first') expect(sent.queries - again).toBe(1)
    }
  })

  it('lease mode: look, claim and complete; with begin() its beginning and its end; a replay is the look', async () => {
    const { sent, database } = counting({}, '10.11.0-MariaDB')
    const store = mysql(database, { mode: 'lease', ...databaseOnly })
    // What the server understands is asked once.
    await once(store, operation(), async (grant) => place.write(await grant.begin(), 'warm'))
    const charge = operation()
    const before = sent.queries
    await once(store, charge, async () => 'called')
    expect(sent.queries - before).toBe(3)
    await once(store, charge, async () => 'called')
    expect(sent.queries - before).toBe(4)
    await once(store, operation(), async (grant) => place.write(await grant.begin(), charge.key))
    expect(sent.queries - before).toBe(4 + 5)
  })
})
