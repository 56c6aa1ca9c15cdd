// A connection whose server gives itself out as another: MySQL itself was not to be had.
import type { PoolConnection } from 'mysql2/promise'

/** Both the store and its way to the server ask for the version, and nothing else of it. */
export function saying(connection: PoolConnection, version: string): PoolConnection {
  const { query } = connection
  connection.query = ((asked: string | { readonly sql: string }, ...values: unknown[]) =>
    query.call(
      connection,
      (typeof asked === 'string'
        ? asked
        : { ...asked, sql: asked.sql.replaceAll(/\bversion\(\)/g, `'${version}'`) }) as never,
      ...(values as [never]),
    )) as never
  return connection
}
