/** Our own statements on a connection, prepared once, the same for every library. */
import type { Row, Statement } from '../database/database.ts'
import type { SqliteConnection, SqliteStatement } from './driver.ts'

export type Param = Statement['params'][number]

export interface Sql {
  exec(text: string): void
  /** How many rows changed. */
  run(statement: Statement): number
  get(statement: Statement): Row | undefined
  all(statement: Statement): readonly Row[]
}

export function sqlOn(connection: SqliteConnection): Sql {
  const prepared = new Map<string, SqliteStatement>()
  // node:sqlite takes parameters side by side only. libsql takes a lone buffer for a list of names unless it stands in one.
  const listed = 'pragma' in connection

  function prepare(text: string): SqliteStatement {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const fresh = connection.prepare(text)
    prepared.set(text, fresh)
    return fresh
  }
  function bound(params: readonly Param[]): readonly unknown[] {
    const values = params.map(bufferOf)
    return listed ? [values] : values
  }
  return {
    exec(text) {
      connection.exec(text)
    },
    run({ text, params }) {
      return Number(prepare(text).run(...bound(params)).changes)
    },
    get({ text, params }) {
      return prepare(text).get(...bound(params)) as Row | undefined
    },
    all({ text, params }) {
      return prepare(text).all(...bound(params)) as readonly Row[]
    },
  }
}

/** libsql ends the process when it is given a bare Uint8Array. */
function bufferOf(param: Param): Param {
  return param instanceof Uint8Array && !Buffer.isBuffer(param)
    ? Buffer.from(param.buffer, param.byteOffset, param.byteLength)
    : param
}

/** The 16 bytes of an id, token or print. */
export function bytes(digits: string): Uint8Array {
  return Buffer.from(digits, 'hex')
}
