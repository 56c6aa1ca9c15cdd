/** Both modes over pools that are set up in other ways, and with the statements that MySQL is sent. */
import type { PoolConnection, PoolOptions } from 'mysql2/promise'
import { describe, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { saying } from '../../../../../test/support/mysql-saying.ts'
import { emptied, mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { storeContract } from '../../testing/store-contract.ts'
import type { Database } from '../database/database.ts'
import { fromMysql2, type Mysql2Pool } from '../database/mysql2.ts'
import { mysql } from './index.ts'

const odd: PoolOptions = {
  rowsAsArray: true,
  nestTables: true,
  namedPlaceholders: true,
  bigNumberStrings: true,
  dateStrings: true,
  charset: 'latin1_swedish_ci',
  timezone: '+05:45',
  flags: ['-FOUND_ROWS'],
}
const pools: readonly (readonly [name: string, options: PoolOptions, session: string, mysql: boolean])[] = [
  ['a pool of odd settings', odd, "sql_mode = '', time_zone = '-09:30', tx_isolation = 'SERIALIZABLE'", false],
  ['a session of ANSI quotes', {}, "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES'", false],
  ["MySQL's statements, one by one", {}, 'innodb_lock_wait_timeout = 1', true],
  ["MySQL's statements, several at a time", { multipleStatements: true }, 'innodb_lock_wait_timeout = 1', true],
]

describeMariadb.each(pools)('%s', (name, options, session, asMysql) => {
  const place = mysqlPlace()
  emptied(place)
  const shown = { clock: 'real', several: true, heldRow: true } as const

  function database(): Database<PoolConnection> {
    const pool = place.open(undefined, options)
    return fromMysql2<PoolConnection>({
      pool,
      async getConnection() {
        const connection = await pool.getConnection()
        await connection.query({ sql: `set session ${session.replaceAll(', ', ', session ')}`, values: [] })
        return asMysql ? saying(connection, '8.4.0') : connection
      },
    } as Mysql2Pool<PoolConnection>)
  }

  storeContract(
    place.make(database),
    {
      ...shown,
      mode: 'transaction',
      name: `MariaDB, transaction mode, ${name}`,
      reopen: true,
      effects: true,
      damage: true,
      behind: true,
    },
    { runner: { describe, it } },
  )
  storeContract(
    (settings) => {
      const over = database()
      const open = () => mysql(over, { mode: 'lease', ...settings })
      const store = open()
      return { store, another: open, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
    },
    { ...shown, mode: 'lease', name: `MariaDB, lease mode, ${name}` },
    { runner: { describe, it } },
  )
})
