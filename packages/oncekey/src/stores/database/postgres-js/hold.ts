/**
 * A connection of postgres.js that a transaction keeps, with BEGIN and what follows it in one flight.
 *
 * `sql.begin` waits for BEGIN alone. `sql.reserve` (3.4.9) forgets who waits for it when another connection closes, gives
 * connections to waiters that were refused before, never answers without `fetch_types`, and keeps `sql.end` waiting for
 * ever. So the connection is kept here as `sql.begin` keeps it.
 */
import type { Connection, Query, Sql } from './driver.ts'

export interface Held {
  /** Aborts when the connection dies. */
  readonly gone: AbortSignal
  /** Sends a query on this connection, in the order of the calls. */
  run(query: Query): void
  /** It is still ours. */
  isHeld(): boolean
  /** `idle`: back to the pool as soon as no transaction is open. `always`: only by `release`. */
  keep(until: 'idle' | 'released'): void
  destroy(): void
}

/** Sends BEGIN; what `run` is given meanwhile goes out right behind it. */
export function hold(sql: Sql, begin: string): Held & { readonly begun: Query } {
  const death = new AbortController()
  const unanswered = new Set<Query>()
  const waiting: Query[] = []
  let connection: Connection | undefined
  let blocked = true
  let over = false

  function mine(): void {
    const next = waiting.shift()
    blocked = next !== undefined
    if (next) connection?.execute(next)
  }
  mine.release = false

  function onexecute(found: Connection): false {
    connection = found
    // Out of the list of those that are connecting: an error there may be taken for one of another host.
    found.queue.remove(found)
    found.queue = { remove: () => {} }
    found.reserved = mine
    found.onclose = die
    blocked = false
    for (const query of waiting.splice(0)) send(query)
    return false
  }
  function die(reason: unknown): void {
    death.abort(reason)
    for (const query of unanswered) query.reject(reason)
  }
  function isHeld(): boolean {
    return !over && !death.signal.aborted && (connection === undefined || connection.reserved === mine)
  }
  function send(query: Query): void {
    if (blocked) waiting.push(query)
    else blocked = !connection?.execute(query)
  }
  const begun = sql.unsafe(begin, [], { onexecute })
  // A server that cannot be reached never gets as far as a connection.
  begun.catch((error: unknown) => {
    for (const query of waiting.splice(0)) query.reject(error)
  })
  return {
    begun,
    gone: death.signal,
    isHeld,
    run(query) {
      // postgres.js would write to a socket that is not there, which ends the process, or into another's transaction.
      if (!isHeld()) {
        query.reject(death.signal.reason ?? new Error('the connection has been given back'))
        return
      }
      unanswered.add(query)
      const answered = () => unanswered.delete(query)
      query.then(answered, answered)
      send(query)
    },
    keep(until) {
      mine.release = until === 'released'
    },
    destroy() {
      const held = isHeld()
      over = true
      if (connection?.onclose === die) connection.onclose = null
      if (held) connection?.terminate()
    },
  }
}
