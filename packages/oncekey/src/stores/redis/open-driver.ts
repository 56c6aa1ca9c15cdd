/** Puts the parts together: a connection, scripts, what is known of the records, and what has to be said about the server. */
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { ForgetfulDriver } from '../leased.ts'
import { redisAdmin } from './admin.ts'
import type { Connection } from './connection.ts'
import { steps } from './driver.ts'
import { examine } from './examine.ts'
import { keysUnder } from './keys.ts'
import { metaOf } from './meta.ts'
import { type Scripts, scriptsWith } from './scripts/index.ts'
import { sending } from './send.ts'

export interface DriverOptions {
  readonly prefix: string
  readonly retainMs: number
  /** How long the first look at the server may take. */
  readonly patienceMs: number
  /** Others are for tests of the scripts themselves. */
  readonly scripts?: Scripts
}

export function openDriver(connection: Connection, options: DriverOptions): ForgetfulDriver {
  const { prefix, retainMs, patienceMs, scripts = scriptsWith() } = options
  const keys = keysUnder(prefix, connection.keyPrefix)
  const send = sending(connection)
  const meta = metaOf({ send, keys, scripts, patienceMs, opened: () => void sayWhatMayBeLost(connection) })
  const parts = { send, keys, scripts, ready: meta.start }
  const off = connection.onError?.(sayThatItFailed)
  return {
    name: 'redis',
    mayForget: 'failover, eviction, restart',
    ...steps(parts),
    async restored() {
      await meta.start().catch((cause: unknown) => {
        throw cause instanceof OncekeyError ? cause : silent(cause)
      })
      return meta.restored()
    },
    admin: redisAdmin({ ...parts, connection, meta, retainMs }),
    async [Symbol.asyncDispose]() {
      off?.()
    },
  }
}

async function sayWhatMayBeLost(connection: Connection): Promise<void> {
  for (const { code, says } of await examine(connection)) {
    tell('may-forget', { store: 'redis', why: says })
    process.emitWarning(says, { type: 'OncekeyWarning', code })
  }
}

/**
 * node-redis ends the process at an `error` that nobody listens to. We listen, so that a server that is away is no
 * reason to end; and where nobody else does, we say that we do, once.
 */
function sayThatItFailed(error: unknown, others: number): void {
  tell('store-failed', { store: 'redis', mode: 'lease', why: 'connection', error })
  if (others > 0 || warned) return
  warned = true
  process.emitWarning(
    'The Redis client has no error listener, and the store listens in its place: errors of the connection are told on oncekey:store-failed. Add client.on("error", …).',
    { type: 'OncekeyWarning', code: 'ONCEKEY_REDIS_NO_ERROR_LISTENER' },
  )
}

let warned = false

function silent(cause: unknown): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: 'The store could not be asked whether its records were restored.',
    where: 'redis',
    why: 'Without a claim nothing may run; the work did not run and will not.',
    fix: 'Answer 503 with Retry-After; the same key may be sent again. See `cause` for what the client said.',
    cause,
  })
}
