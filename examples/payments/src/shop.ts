// The store of the keys and the books of the charges, opened together on one database, whichever it is.
import Database from 'libsql'
import { downstreamDedupes, type Grant, type Store } from 'oncekey'
import { memory } from 'oncekey/memory'
import { fromPg, postgres } from 'oncekey/postgres'
import { sqlite } from 'oncekey/sqlite'
import pg from 'pg'
import type { Books } from './books/books.ts'
import { memoryBooks } from './books/memory.ts'
import { postgresBooks } from './books/postgres.ts'
import { sqliteBooks } from './books/sqlite.ts'
import type { Config } from './config.ts'

export interface Shop<G extends Grant = Grant, Tx = unknown> extends AsyncDisposable {
  readonly store: Store<G>
  readonly books: Books<Tx>
  /** The transaction that the key's answer commits with. */
  tx(grant: G): Promise<Tx>
}

/** The bank remembers keys for a day (see bank/bank.ts: it remembers them for as long as it runs). */
const afterFailure = downstreamDedupes({ for: '24h' })

const CONNECTIONS = 10

/** Calls `open` with the shop that the configuration asks for; each has its own type of transaction, without a cast. */
export async function withShop<R>(
  config: Config,
  open: <G extends Grant, Tx>(shop: Shop<G, Tx>) => Promise<R>,
): Promise<R> {
  const { retain, lease } = config
  const leasing = { mode: 'lease', lease, retain, ...afterFailure } as const
  switch (config.kind) {
    case 'memory': {
      const store = memory(afterFailure, { lease, retain })
      return open({ store, books: memoryBooks(), tx: async () => undefined, ...closing(store) })
    }
    case 'sqlite': {
      const path = config.store.slice('sqlite:'.length)
      const driver = Database
      if (config.mode === 'transaction') {
        const store = sqlite(path, { driver, retain })
        const books = sqliteBooks(path)
        return open({ store, books, tx: async (grant) => grant.tx, ...closing(store, books) })
      }
      const store = sqlite(path, { driver, ...leasing })
      const books = sqliteBooks(path)
      return open({ store, books, tx: (grant) => grant.begin(), ...closing(store, books) })
    }
    case 'postgres': {
      const pool = new pg.Pool({ connectionString: config.store, max: CONNECTIONS })
      pool.on('error', (error) => console.error(`postgres: ${error.message}`))
      // Opened before the first request comes: a stampede should not find a pool that has yet to be filled.
      await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('select 1')))
      const poolEnd = { [Symbol.asyncDispose]: () => pool.end() }
      if (config.mode === 'transaction') {
        const store = postgres(fromPg(pool), { retain })
        await store.admin.migrate()
        return open({
          store,
          books: await postgresBooks(pool),
          tx: async (grant) => grant.tx,
          ...closing(store, poolEnd),
        })
      }
      const store = postgres(fromPg(pool), leasing)
      await store.admin.migrate()
      return open({ store, books: await postgresBooks(pool), tx: (grant) => grant.begin(), ...closing(store, poolEnd) })
    }
    default:
      throw config.kind satisfies never
  }
}

function closing(...parts: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const part of parts) await part[Symbol.asyncDispose]()
    },
  }
}
