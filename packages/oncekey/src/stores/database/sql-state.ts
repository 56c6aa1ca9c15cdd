/** Reads what a database said out of whatever a library wrapped around it (`cause`, `driverError`, `driverAdapterError`, `meta`, `original`). */

/** The fields of a PostgreSQL error that decide something. */
export interface SqlError {
  /** Five characters; postgres.js and pg call it `code`. */
  readonly code: string
  readonly message: string
  readonly schema?: string
  readonly table?: string
  readonly constraint?: string
  /** Where a function raised it. */
  readonly where?: string
}

export function sqlState(error: unknown): string | undefined {
  return sqlError(error)?.code
}

/** The outermost error that carries a SQLSTATE. TypeORM, Sequelize and Prisma keep what the driver threw beside what they throw. */
export function sqlError(error: unknown, depth = 0): SqlError | undefined {
  if (!isObject(error) || depth > 8) return undefined
  // Prisma's driver adapters say it in a field of their own.
  for (const code of [error.code, error.originalCode])
    if (typeof code === 'string' && isSqlState(code)) return read(error, code)
  for (const inner of [error.driverError, error.driverAdapterError, error.original, error.meta, error.cause]) {
    const found = sqlError(inner, depth + 1)
    if (found) return found
  }
  return undefined
}

/** Five characters; but `EPIPE` is the system's and `P2002` Prisma's. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^(E[A-Z]{4}|P[1-9]\d{3})$/.test(code)
}

type Loose = Readonly<Record<string, unknown>>

function read(error: Loose, code: string): SqlError {
  const text = (...names: string[]): string | undefined => {
    const name = names.find((candidate) => typeof error[candidate] === 'string')
    return name === undefined ? undefined : (error[name] as string)
  }
  const schema = text('schema', 'schema_name')
  const table = text('table', 'table_name')
  const index = isObject(error.constraint) ? error.constraint.index : undefined
  const constraint = typeof index === 'string' ? index : text('constraint', 'constraint_name')
  const where = text('where')
  return {
    code,
    message: text('message', 'originalMessage') ?? '',
    ...(schema === undefined ? {} : { schema }),
    ...(table === undefined ? {} : { table }),
    ...(constraint === undefined ? {} : { constraint }),
    ...(where === undefined ? {} : { where }),
  }
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null
}
