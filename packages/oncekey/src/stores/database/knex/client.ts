/** What is used of Knex (https://github.com/knex/knex, 3.3): its client's pool, and a transaction over a connection of the caller's. */
import { OncekeyError } from '../../../core/errors.ts'
import { made, unreachable } from '../lent.ts'

export interface KnexTransaction {
  readonly client: KnexClient
}
/** What a caller hands in: with its own `transaction` the type of the transaction is found. */
export interface KnexInstance<Tx> {
  readonly client: KnexClient
  transaction<R>(callback: (tx: Tx) => Promise<R>, config?: never): Promise<R>
}
/** Knex's own types say `any`. */
export type KnexClient = {
  acquireConnection(): Promise<object>
  releaseConnection(connection: object): Promise<void>
  readonly driverName?: string
  readonly pool?: { readonly max?: number }
  readonly config?: { readonly connectionPool?: { readonly options?: { readonly max?: number } } }
}

/** From the pool; on a transaction its own connection. */
export function acquire({ client }: { readonly client: KnexClient }): Promise<object> {
  return client.acquireConnection()
}

export function expectDriver({ client }: { readonly client: KnexClient }, driver: 'pg' | 'mysql2'): void {
  if (client.driverName !== driver)
    throw unreachable(
      'fromKnex',
      `Make it with \`knex({ client: '${driver}', … })\`; this one has ${client.driverName}.`,
    )
}

export function poolSize({ client }: { readonly client: KnexClient }): number | undefined {
  return client.pool?.max ?? client.config?.connectionPool?.options?.max
}

/** Knex's transaction over a connection that it did not acquire and does not release. */
export async function transactionOver<Tx>(knex: KnexInstance<Tx>, connection: object): Promise<Tx> {
  const config = { connection } as never
  const tx = await made<Tx>((callback) => knex.transaction(callback, config))
  // Knex takes the refusal of its COMMIT for the transaction's end, and tells nobody.
  return Object.assign(tx as object, { commit: () => refuse('commit'), rollback: () => refuse('rollback') }) as Tx
}

async function refuse(method: string): Promise<never> {
  throw new OncekeyError('TX_CONTROL', {
    what: `The work called ${method}() on the transaction that belongs to its operation.`,
    where: 'tx',
    why: 'The answer has to commit together with the writes; a transaction that ends early loses its key, and the work could run twice.',
    fix: 'Return or throw instead. Use `tx.transaction()` for a part that may be undone.',
  })
}
