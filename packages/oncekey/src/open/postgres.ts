/** `postgres://user@host/database`, through pg or postgres.js. */
import type { Pool, PoolConfig } from 'pg'
import type { Sql } from 'postgres'
import type { Store } from '../core/store.ts'
import type { Database } from '../stores/database/database.ts'
import { fromPg } from '../stores/database/pg.ts'
import { fromPostgresJs } from '../stores/database/postgres-js.ts'
import { afterOf, durationsOf, loadDriver, type Opener, type Opening } from './opener.ts'

/** pg's own default; postgres.js has the same. */
const CONNECTIONS = 10

export const openPostgres: Opener = {
  modes: ['transaction', 'lease'],
  async open(url, options) {
    const { connections = CONNECTIONS } = options
    const { name, module } = await loadDriver(DRIVERS, options.driver)
    if (name === 'pg') {
      const { default: pg } = module as { default: { Pool: new (config: PoolConfig) => Pool } }
      const pool = new pg.Pool({ connectionString: url, max: connections })
      // An idle connection that dies is replaced; without a listener it would end the process.
      pool.on('error', () => {})
      return closing(await storeOn(fromPg(pool), options), () => pool.end())
    }
    const { default: connect } = module as { default: (url: string, options: object) => Sql }
    const sql = connect(url, { max: connections, onnotice() {} })
    return closing(await storeOn(fromPostgresJs(sql), options), () => sql.end())
  },
}

const DRIVERS = [
  { name: 'pg', load: () => import('pg') },
  { name: 'postgres', load: () => import('postgres') },
] as const

async function storeOn<Tx>(database: Database<Tx>, options: Opening): Promise<Store<never>> {
  const { postgres } = await import('../stores/postgres/index.ts')
  const { lease, ...durations } = durationsOf(options)
  const common = {
    ...(options.schema === undefined ? {} : { schema: options.schema }),
    ...durations,
  }
  return (
    options.mode === 'lease'
      ? postgres(database, { ...common, ...(lease === undefined ? {} : { lease }), mode: 'lease', ...afterOf(options) })
      : postgres(database, common)
  ) as Store<never>
}

/** The store leaves its database alone; this one was opened for it. */
function closing(store: Store<never>, end: () => Promise<unknown>): Store<never> {
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await end()
    },
  }
}
