/** `mysql://user@host/database` and `mariadb://user@host/database`, through mysql2. */
import type { Pool, PoolOptions } from 'mysql2/promise'
import { afterOf, durationsOf, loadDriver, type Opener, type Opening } from './opener.ts'

/** mysql2's own default. */
const CONNECTIONS = 10

export const openMysql: Opener = {
  modes: ['transaction', 'lease'],
  async open(url, options) {
    const { connections = CONNECTIONS } = options
    const { module } = await loadDriver(DRIVERS, options.driver)
    const { createPool } = module as { createPool: (config: PoolOptions) => Pool }
    const pool = createPool({ uri: url.replace(/^mariadb:/i, 'mysql:'), connectionLimit: connections })
    const store = await storeOn(pool, options)
    return {
      ...store,
      // The store leaves its pool alone; this one was opened for it.
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await pool.end()
      },
    }
  },
}

const DRIVERS = [{ name: 'mysql2', load: () => import('mysql2/promise') }] as const

async function storeOn(pool: Pool, options: Opening) {
  const { fromMysql2, mysql } = await import('../stores/mysql/index.ts')
  const { lease, ...durations } = durationsOf(options)
  const common = {
    ...(options.schema === undefined ? {} : { prefix: `${options.schema}_` }),
    ...durations,
  }
  const database = fromMysql2(pool)
  if (options.mode !== 'lease') return mysql(database, common)
  return mysql(database, { ...common, ...(lease === undefined ? {} : { lease }), mode: 'lease', ...afterOf(options) })
}
