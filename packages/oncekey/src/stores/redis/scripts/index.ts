/** Every script that the server is sent, built once for each store. */
import { auditEntry, auditWithdrawn } from './admin/audit.ts'
import { erase } from './admin/erase.ts'
import { peek } from './admin/peek.ts'
import { restore } from './admin/restore.ts'
import { settleFinished } from './admin/settle-finished.ts'
import { settleFree } from './admin/settle-free.ts'
import { settleRetry } from './admin/settle-retry.ts'
import { sweep } from './admin/sweep.ts'
import { claim } from './claim.ts'
import { complete } from './complete.ts'
import { holdScript } from './hold.ts'
import { openMeta } from './meta/open.ts'
import { metaReconciled, metaRestored } from './meta/restored.ts'
import { sweeperEnters, sweeperGoesOn, sweeperLeaves } from './meta/sweeper.ts'
import { read } from './read.ts'
import { NOW, SERVER_TIME } from './record.ts'
import { releaseFree } from './release-free.ts'
import { releaseRetry } from './release-retry.ts'
import { renew } from './renew.ts'
import { type Script, scriptOf } from './script.ts'

export const BODIES = {
  claim,
  complete,
  hold: holdScript,
  read,
  releaseFree,
  releaseRetry,
  renew,
  erase,
  forget: settleFree,
  peek,
  restore,
  settleFinished,
  settleFree,
  settleRetry,
  sweep,
  auditEntry,
  auditWithdrawn,
  metaReconciled,
  metaRestored,
  openMeta,
  sweeperEnters,
  sweeperGoesOn,
  sweeperLeaves,
} as const
export type ScriptName = keyof typeof BODIES
export type Scripts = Readonly<Record<ScriptName, Script>>

/**
 * What is claimed may end although the server's memory is full, and a replica refuses the script before it starts
 * (https://redis.io/docs/latest/develop/programmability/lua-api/#script_flags).
 */
const FLAGS = '#!lua flags=allow-oom'

/** `clock` is Lua that sets `us`. The factory has no way to give another one than the server's. */
export function scriptsWith(clock = SERVER_TIME, bodies: Readonly<Record<ScriptName, string>> = BODIES): Scripts {
  const made = Object.entries(bodies).map(([name, body]) => {
    const flags = name === 'claim' ? '' : `${FLAGS}\n`
    return [name, scriptOf(`${flags}${clock}${NOW}${body}`)] as const
  })
  return Object.fromEntries(made) as unknown as Scripts
}
