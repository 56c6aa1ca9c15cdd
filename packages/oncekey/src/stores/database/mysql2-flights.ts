/** How several statements become one flight on MySQL and MariaDB, where `mysql2` sends one query at a time. */
import type { Row, Statement } from './database.ts'
import { BEGIN, type Flight, type Flown } from './joined.ts'
import { rowsOf, setsOf } from './mysql-rows.ts'

export interface Form {
  fly(connection: object, flight: Flight): Promise<Flown>
}

/** Neither the isolation nor READ WRITE outlives the transaction: pools see nothing of it. */
const OPENING = ['set transaction isolation level read committed', 'start transaction read write']

/**
 * MariaDB reads a block on any connection. MySQL reads several statements where the pool says `multipleStatements`;
 * without it each statement is a flight: mysql2 sends a query only when the one before it is answered.
 */
export async function formFor(connection: object): Promise<Form> {
  const [row] = rowsOf(await ask(connection, 'select version() as version, @@session.sql_mode as mode'))
  // In its Oracle mode MariaDB reads blocks in another grammar.
  if (/mariadb/i.test(String(row?.version)) && !/oracle/i.test(String(row?.mode))) return block
  return takesSeveral(connection) ? several : apart
}

/** What an opening has noted in `@oncekey_idle` is set again with the transaction's end, so that pools see nothing of it. */
const IDLE_AGAIN =
  'set session idle_transaction_timeout = cast(coalesce(@oncekey_idle, @@session.idle_transaction_timeout) as signed)'

/** A statement that fails ends the block, so that COMMIT is never reached. */
const block: Form = {
  async fly(connection, flight) {
    const statements = statementsOf(flight).flatMap((one) => {
      if (one.text === 'commit') return [plain(IDLE_AGAIN), one]
      return one.text === 'rollback' ? [one, plain(IDLE_AGAIN)] : [one]
    })
    // Blocks do not take NOWAIT.
    const alone = statements.length === 1 || statements.some(({ text }) => /\bnowait$/i.test(text))
    if (alone) return apart.fly(connection, flight)
    const text = `begin not atomic\n${statements.map((one) => `${one.text};`).join('\n')}\nend`
    const sets = [...setsOf(await ask(connection, text, paramsOf(statements)))]
    const answered = (flight.statements ?? []).map((one) => (isSelect(one) ? (sets.shift() ?? []) : []))
    return flown(flight, answered)
  },
}

/** One query of several statements; what stands behind one that fails is not run. */
const several: Form = {
  async fly(connection, flight) {
    const statements = statementsOf(flight)
    if (statements.length === 1) return apart.fly(connection, flight)
    const text = statements.map((one) => one.text).join(';\n')
    const results = (await ask(connection, text, paramsOf(statements))) as readonly unknown[]
    const from = firstOf(flight).length
    const count = flight.statements?.length ?? 0
    return flown(flight, results.slice(from, from + count).map(rowsOf))
  },
}

const apart: Form = {
  async fly(connection, flight) {
    const answered: (readonly Row[])[] = []
    for (const { text, params } of statementsOf(flight)) answered.push(rowsOf(await ask(connection, text, params)))
    const from = firstOf(flight).length
    return flown(flight, answered.slice(from, from + (flight.statements?.length ?? 0)))
  },
}

function flown({ last }: Flight, rows: readonly (readonly Row[])[]): Flown {
  return { rows, command: last?.toUpperCase() }
}

function firstOf({ first }: Flight): readonly string[] {
  if (first === undefined) return []
  return first === BEGIN ? OPENING : [first]
}

function statementsOf(flight: Flight): readonly Statement[] {
  return [
    ...firstOf(flight).map(plain),
    ...(flight.statements ?? []),
    ...(flight.last === undefined ? [] : [plain(flight.last)]),
  ]
}

function plain(text: string): Statement {
  return { text, params: [] }
}

function paramsOf(statements: readonly Statement[]): Statement['params'] {
  return statements.flatMap(({ params }) => params)
}

function isSelect({ text }: Statement): boolean {
  return /^\s*select\b/i.test(text)
}

function takesSeveral(connection: object): boolean {
  const { config, connection: beneath } = connection as {
    config?: { multipleStatements?: boolean }
    connection?: object
  }
  return config?.multipleStatements === true || (beneath !== undefined && takesSeveral(beneath))
}

/** Whatever the pool's own settings are, rows come as objects and our parameters by their place. */
export async function ask(connection: object, sql: string, params: Statement['params'] = []): Promise<unknown> {
  const values = params.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))
  const settings = { sql, values, rowsAsArray: false, nestTables: false, typeCast: true, namedPlaceholders: false }
  const [result] = await (connection as { query(options: object): Promise<readonly unknown[]> }).query(settings)
  return result
}
