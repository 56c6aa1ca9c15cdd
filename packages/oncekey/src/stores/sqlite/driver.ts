/** What is asked of a SQLite library, by shape: libsql, better-sqlite3 and node:sqlite have it, and no import names them. */
import { createRequire } from 'node:module'
import { OncekeyError } from '../../core/errors.ts'

/** A connection, as all three libraries give it. */
export interface SqliteConnection {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}
export interface SqliteStatement {
  // biome-ignore lint/suspicious/noExplicitAny: the libraries type their parameters in ways that only `any` covers.
  run(...params: any[]): { readonly changes: number | bigint }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  get(...params: any[]): unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above
  all(...params: any[]): unknown[]
}

/** The library's own class: `Database` of libsql and better-sqlite3, `DatabaseSync` of node:sqlite. */
export type SqliteDriver<Tx extends SqliteConnection = SqliteConnection> = new (
  path: string,
  options?: { timeout?: number },
) => Tx

/** The first of libsql, better-sqlite3 and node:sqlite that is there. Throws `INVALID_OPTION` where none is. */
export function findDriver(): SqliteDriver {
  const require = createRequire(import.meta.url)
  const causes: unknown[] = []
  for (const [name, exported] of CANDIDATES) {
    try {
      const library = require(name) as Record<string, SqliteDriver>
      return exported === undefined ? (library as unknown as SqliteDriver) : (library[exported] as SqliteDriver)
    } catch (cause) {
      causes.push(cause)
    }
  }
  throw new OncekeyError('INVALID_OPTION', {
    what: 'No SQLite library was found.',
    where: 'sqlite',
    why: 'oncekey brings none of its own: operations run on the connection class of the library that the application uses.',
    fix: '`npm install libsql` (or better-sqlite3, or Node 22.13 and later for node:sqlite), or pass its class: `sqlite(path, { driver: Database })`.',
    cause: new AggregateError(causes),
  })
}

const CANDIDATES = [
  ['libsql', undefined],
  ['better-sqlite3', undefined],
  ['node:sqlite', 'DatabaseSync'],
] as const
