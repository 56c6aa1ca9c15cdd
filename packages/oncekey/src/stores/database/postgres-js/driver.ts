/**
 * What is used of postgres.js (https://github.com/porsager/postgres, 3.4): its public surface, and the parts with which
 * its own `sql.begin` keeps a connection.
 */

/** What a caller hands in. The last signature of `begin` is postgres.js's own: with it the transaction's type is found. */
export interface PostgresJs<Tx> {
  readonly options: object
  begin(options: string, body: (tx: Tx) => unknown): Promise<unknown>
  unsafe(text: string): unknown
}

export interface Sql {
  (...template: readonly unknown[]): unknown
  readonly options: Options
  unsafe(text: string, params?: readonly unknown[], options?: UnsafeOptions): Query
}
export interface Options {
  readonly max?: number
  readonly transform?: {
    readonly column?: { readonly from?: Rename }
    readonly row?: { readonly from?: unknown }
  }
}
/** What names of columns go through before they come to us. */
export type Rename = ((name: string) => string) | undefined

export interface UnsafeOptions {
  readonly prepare?: boolean
  readonly simple?: boolean
  /** Called with the connection once the query is written to it. A falsy answer: no other query may follow. */
  readonly onexecute?: (connection: Connection) => unknown
}

export interface Connection {
  /** The list in which the pool finds it. */
  queue: { remove(connection: Connection): unknown }
  onclose?: ((reason: unknown) => void) | null
  /**
   * Set while somebody has it: called when everything sent has been answered. With `release` it stays even where no
   * transaction is open; without it, it goes back to the pool then.
   */
  reserved?: (Hold & (() => unknown)) | null
  /** False: nothing may be sent behind this query before it has been answered. */
  execute(query: Query): unknown
  terminate(): void
}
export interface Hold {
  release?: boolean
}

/** A query is lazy: `handler` is called, once, when somebody awaits it, which may be long after it was written down. */
export interface Query extends Promise<Answer | readonly Answer[]> {
  handler: (query: Query) => unknown
  readonly strings: readonly string[]
  reject(reason: unknown): void
  raw(): this
  execute(): this
}
/** Rows of a `raw()` query: the bytes of each column, and what the columns are. */
export interface Answer extends ReadonlyArray<readonly (Buffer | null)[]> {
  readonly command: string | null
  readonly columns?: readonly { readonly name: string; readonly type: number }[] | null
}

export function isQuery(value: unknown): value is Query {
  if (typeof value !== 'object' || value === null) return false
  const { handler, reject } = value as Partial<Query>
  return typeof handler === 'function' && typeof reject === 'function'
}
