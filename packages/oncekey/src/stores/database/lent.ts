/** The port over a query library: the transaction is ours, by its driver, and in the work's hands it is the library's own. */
import { OncekeyError } from '../../core/errors.ts'
import type { Database, Row, Statement } from './database.ts'

export interface Lending<Client, Tx> {
  /** The library's transaction over a connection on which ours is open; what it sends dies with the connection (T7). */
  lend(client: Client): Promise<Tx>
  /** Statements of ours on a transaction that the library itself has opened. */
  on(tx: Tx): (statement: Statement) => Promise<readonly Row[]>
}

/**
 * Asked for a transaction of its own, a library sends BEGIN alone and COMMIT alone: six flights for a new key. Over ours
 * it is three, and what a lost COMMIT means is found out in one place.
 */
export function lent<Client, Tx>(database: Database<Client>, { lend, on }: Lending<Client, Tx>): Database<Tx> {
  return {
    ...database,
    on,
    transaction: (opening, body) =>
      database.transaction(opening, async (client, opened, gone) => body(await lend(client), opened, gone)),
  }
}

/**
 * The transaction that a library makes when it is asked for one. Its callback never ends: the library would send COMMIT,
 * and from then on refuse a late query in its own words.
 */
export function made<Tx>(begin: (callback: (tx: Tx) => Promise<never>) => unknown): Promise<Tx> {
  return new Promise((resolve, reject) => {
    const never = new Promise<never>(() => {})
    Promise.resolve(
      begin((tx) => {
        resolve(tx)
        return never
      }),
    ).catch(reject)
  })
}

/** A connection whose `query` is answered here until the library has its BEGIN. */
export function begun<Client extends object>(
  client: Client,
  answer: (...sent: unknown[]) => unknown,
): { readonly connection: Client; begun(): void } {
  let over = false
  const connection = new Proxy(client, {
    get: (target, name) => (name === 'query' && !over ? answer : Reflect.get(target, name)),
    set: (target, name, value) => Reflect.set(target, name, value),
  })
  return {
    connection,
    begun() {
      over = true
    },
  }
}

export function unreachable(where: string, fix: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'The connections behind this instance cannot be reached.',
    where,
    why: 'The key, the writes and the answer have to share a transaction, and its handle has to die with the work.',
    fix,
  })
}
