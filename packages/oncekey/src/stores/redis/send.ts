/** Sends scripts: only where they leave at once, by their digest, and again as text where the server does not know them. */
import type { Argument, Connection } from './connection.ts'
import { definite } from './faults.ts'
import type { Script } from './scripts/script.ts'

export type Send = (script: Script, key: string, args?: readonly Argument[]) => Promise<unknown[]>

/**
 * How long a step waits for a connection before it fails, so that whoever insists may ask again. Nothing is handed to
 * a library that would keep it until the server is back: it would run when nobody waits for it any more.
 */
const CONNECTION_MS = 200

export function sending(connection: Connection): Send {
  return async function send(script, key, args = []) {
    if (!connection.isReady()) await whenReady(connection)
    try {
      return list(await connection.evaluate('EVALSHA', script.sha, key, args))
    } catch (error) {
      // After a restart, a failover and SCRIPT FLUSH; since Redis 7.4 also when it was not used for long.
      if (!said(error).startsWith('NOSCRIPT')) throw definite(error)
    }
    try {
      return list(await connection.evaluate('EVAL', script.text, key, args))
    } catch (error) {
      throw definite(error)
    }
  }
}

function whenReady(connection: Connection): Promise<void> {
  if (connection.isEnded()) return Promise.reject(new Error('the client is not connected, and does not try to'))
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => done(new Error('the client has no connection')), CONNECTION_MS)
    const off = connection.onReady(() => {
      if (connection.isReady()) done()
    })
    function done(error?: Error): void {
      clearTimeout(timer)
      off()
      if (error && !connection.isReady()) reject(error)
      else resolve()
    }
  })
}

function list(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply
  throw new Error('the server answered a script with something else than a list')
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : ''
}
