/** The port over Prisma on PostgreSQL, with a driver adapter; `tx` is the client of its interactive transaction. */
import { callbackDatabase } from '../callback-database.ts'
import type { Database, Row, Statement } from '../database.ts'
import { guard } from '../guard.ts'
import { sqlError } from '../sql-state.ts'

/** What is used of a client, and of a transaction's. */
export interface PrismaQueries {
  $queryRawUnsafe(text: string, ...params: never[]): PromiseLike<unknown>
}
/** What a caller hands in: with its own `$transaction` the type of the transaction is found. */
export interface PrismaInstance<Tx extends PrismaQueries> extends PrismaQueries {
  $transaction<R>(
    callback: (tx: Tx) => Promise<R>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: never },
  ): Promise<R>
}
export interface PrismaOptions {
  /** The size of the adapter's pool; or say `maxWinners` to the store. */
  readonly connections?: number
  /** How long COMMIT may take before it counts as in doubt. Default 10,000. */
  readonly commitMs?: number
}

/** The store gives up first, by `claimMs` and `work`; what a timer can hold. */
const NEVER_MS = 2_147_483_647

export function fromPrisma<Tx extends PrismaQueries>(
  prisma: PrismaInstance<Tx>,
  options: PrismaOptions = {},
): Database<Tx> {
  const settings = { isolationLevel: 'ReadCommitted' as never, maxWait: NEVER_MS, timeout: NEVER_MS }
  return callbackDatabase<Tx>({
    ...options,
    begin: (callback) => prisma.$transaction(callback, settings),
    execute: (tx, statement) => execute(tx ?? prisma, statement),
    // A delegate that was kept, and a query that was built and not sent, Prisma refuses by itself: its transaction is over.
    guard: (tx) => guard(tx),
  })
}

async function execute(client: PrismaQueries, { text, params }: Statement): Promise<readonly Row[]> {
  try {
    return (await client.$queryRawUnsafe(text, ...(params as never[]))) as readonly Row[]
  } catch (error) {
    throw named(error, text)
  }
}

/** Prisma tells the table of a violation and not its schema; of a statement of ours it is the one that stands in it. */
function named(error: unknown, text: string): unknown {
  const said = sqlError(error)
  const schema = /\b(?:into|update|from) ("(?:[^"]|"")+"|\w+)\./i.exec(text)?.[1]
  if (said === undefined || said.table === undefined || schema === undefined) return error
  const bare = schema.startsWith('"') ? schema.slice(1, -1).replaceAll('""', '"') : schema
  return Object.assign(new Error(said.message, { cause: error }), { ...said, schema: bare })
}
