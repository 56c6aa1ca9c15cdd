/** How long the server keeps a transaction whose client is silent or gone (T12). */
import type { Statement } from '../../database/database.ts'

/** Beyond the work's own time: a client that lives gives up before the server does. */
const MARGIN_S = 5
/** What the setting can hold: a year. */
const LONGEST_S = 31_536_000

/**
 * MariaDB alone has it; a host that vanishes would else hold its keys until TCP finds out, two hours by default. The
 * setting is the session's; what it was is noted for whoever ends the transaction.
 */
export function idleLimit(workMs: number): Statement {
  const seconds = Math.min(Math.ceil(workMs / 1_000) + MARGIN_S, LONGEST_S)
  return {
    text: `set @oncekey_idle = @@session.idle_transaction_timeout, session idle_transaction_timeout = ${seconds}`,
    params: [],
  }
}
