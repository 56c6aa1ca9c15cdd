/** What is used of Kysely (https://github.com/kysely-org/kysely, 0.28): executors, which say where a query goes. */
import { OncekeyError } from '../../../core/errors.ts'
import type { Statement } from '../database.ts'
import { made } from '../lent.ts'

/** What a caller hands in: with its own `transaction` the type of the transaction is found. */
export interface KyselyInstance<Tx> {
  transaction(): { execute<R>(callback: (tx: Tx) => Promise<R>): Promise<R> }
  withPlugin(plugin: never): unknown
}

export interface Query {
  readonly sql: string
  readonly parameters: readonly unknown[]
}
export interface Result {
  readonly rows: readonly unknown[]
  readonly numAffectedRows?: bigint
  readonly numChangedRows?: bigint
  readonly insertId?: bigint
}
export interface Connection {
  executeQuery(query: Query): Promise<Result>
}

type Provide = <R>(consumer: (connection: object) => Promise<R>) => Promise<R>
interface Inside<Tx> {
  getExecutor(): { provideConnection: Provide }
  withPlugin(plugin: object): Inside<Tx>
  transaction(): { execute(callback: (tx: Tx) => Promise<never>): Promise<never> }
}

/** Changes nothing; an instance with a plugin more has an executor of its own. */
const PASSES = {
  transformQuery: ({ node }: { readonly node: unknown }) => node,
  transformResult: async ({ result }: { readonly result: unknown }) => result,
}

/** Kysely's transaction, as it makes it over another connection: plugins and schema are the user's. */
export async function transactionOver<Tx>(db: KyselyInstance<Tx>, { executeQuery }: Connection): Promise<Tx> {
  let begun = false
  const connection = {
    executeQuery: (query: Query) => (begun ? executeQuery(query) : Promise.resolve({ rows: [] })),
    streamQuery: refuseStream,
  }
  const own = (db as unknown as Inside<Tx>).withPlugin(PASSES)
  own.getExecutor().provideConnection = (consumer) => consumer(connection)
  const tx = await made<Tx>((callback) => own.transaction().execute(callback))
  begun = true
  return tx
}

/** On the connection itself, past the user's plugins: one may rename columns. */
export function send(tx: unknown, { text, params }: Statement): Promise<Result> {
  const query = { sql: text, parameters: [...params] }
  return (tx as Inside<never>)
    .getExecutor()
    .provideConnection((connection) => (connection as Connection).executeQuery(query))
}

function refuseStream(): never {
  throw new OncekeyError('INVALID_OPTION', {
    what: 'The work streams the rows of a query.',
    where: 'fromKysely',
    why: 'Kysely keeps the cursor that streams to itself, and the transaction is not on a connection of its own.',
    fix: 'Read with `execute()`, page by page where there is much.',
  })
}
