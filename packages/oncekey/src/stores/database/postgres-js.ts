/** The port over postgres.js: BEGIN travels with the opening, and the last statements with COMMIT. */
import { OncekeyError } from '../../core/errors.ts'
import type { Database, Row, Statement } from './database.ts'
import { inline } from './inline.ts'
import { COMMIT_MS, inTime, joined, writing } from './joined.ts'
import type { PostgresJs, Sql } from './postgres-js/driver.ts'
import { lineOf } from './postgres-js/line.ts'
import { rowsOf } from './postgres-js/rows.ts'

export interface PostgresJsOptions {
  /** How long COMMIT may take before it counts as in doubt and its connection is destroyed. Default 10,000. */
  readonly commitMs?: number
  /** Name our statements, so that each connection parses them once. Not behind a pooler in transaction mode. */
  readonly preparedStatements?: boolean
}

/** postgres.js's own default. */
const MAX = 10

/** `tx` is the library's own `TransactionSql`. `sql` stays the caller's: nothing here ends it. */
export function fromPostgresJs<Tx>(given: PostgresJs<Tx>, options: PostgresJsOptions = {}): Database<Tx> {
  const { commitMs = COMMIT_MS, preparedStatements = false } = options
  const sql = given as unknown as Sql
  const { max = MAX, transform } = sql.options
  if (typeof transform?.row?.from === 'function') throw rowsTransformed()
  const rename = transform?.column?.from
  return {
    flights: 'joined',
    connections: max,
    query: (statement) => writing(statement, (asked) => one(sql, asked, preparedStatements && asked === statement)),
    on: (tx) => (statement) => one(tx as Sql, statement, preparedStatements),
    transaction: (opening, body) =>
      joined(inTime(lineOf<Tx>(sql, { rename, preparedStatements }), commitMs), opening, body),
  }

  async function one(line: Sql, { text, params }: Statement, named: boolean): Promise<readonly Row[]> {
    const query = named ? line.unsafe(text, params, { prepare: true }) : line.unsafe(inline({ text, params }))
    return rowsOf(await query.raw(), rename)
  }
}

function rowsTransformed(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'This postgres.js instance changes whole rows (`transform.row.from`).',
    where: 'fromPostgresJs',
    why: 'The rows of the record table would be changed too, and there is no way to read them as they are.',
    fix: 'Give the store an instance without it; `transform.column` and `transform.value` are fine.',
  })
}
