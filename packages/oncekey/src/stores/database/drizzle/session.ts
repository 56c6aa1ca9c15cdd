/** What is used of Drizzle (https://github.com/drizzle-team/drizzle-orm, 0.45): an instance's session, and the client in it. */
import { made } from '../lent.ts'

/** What a caller hands in: with its own `transaction` the type of the transaction is found. Its types hide its session. */
export interface DrizzleInstance<Tx> {
  transaction<R>(callback: (tx: Tx) => Promise<R>): Promise<R>
}

export interface Session {
  readonly client: object
  transaction(callback: (tx: never) => Promise<never>): Promise<unknown>
}

export function sessionOf(instance: unknown): Session | undefined {
  return (instance as { session?: Session }).session
}

/** Drizzle's transaction, as its session makes it over another client: the schema, the logger and the cache are the user's. */
export function transactionIn<Tx>(session: Session | undefined, client: object): Promise<Tx> {
  const own: Session = Object.create(session as Session, { client: { value: client } })
  return made<Tx>((callback) => own.transaction(callback))
}
