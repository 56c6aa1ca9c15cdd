/** A store in this process's memory, for tests, for one process, and for reading: what every other store does, without a server. */
import { milliseconds } from '../core/clock.ts'
import type { AfterFailure } from '../core/policy.ts'
import type { Leased, Store } from '../core/store.ts'
import { type LeasedOptions, leased } from './leased.ts'
import type { AuditEntry } from './memory/admin.ts'
import { type MemoryDriverOptions, memoryDriver } from './memory/driver.ts'

export type { AuditEntry } from './memory/admin.ts'

export type MemoryOptions = Omit<LeasedOptions, keyof AfterFailure> & Omit<MemoryDriverOptions, 'retainMs'>

export interface MemoryStore extends Store<Leased> {
  /** Who settled or forgot what, the latest 10,000. */
  readonly audit: readonly AuditEntry[]
}

/**
 * `after` says what follows a failure: `downstreamDedupes({ for: '24h' })`, `downstreamDoesNot` or `databaseOnly`.
 * When `maxRecords` are held, claims are refused with `STORE_UNAVAILABLE`; nothing within its retention is dropped.
 */
export function memory(after: AfterFailure, options: MemoryOptions = {}): MemoryStore {
  warnInProduction()
  const { clock, maxRecords, ...lease } = options
  const driver = memoryDriver({
    ...(clock ? { clock } : {}),
    ...(maxRecords === undefined ? {} : { maxRecords }),
    ...(options.retain === undefined ? {} : { retainMs: milliseconds(options.retain, 'retain') }),
  })
  return { ...leased(driver, { ...lease, ...after }), audit: driver.audit }
}

let warned = false

function warnInProduction(): void {
  if (warned || process.env.NODE_ENV !== 'production') return
  warned = true
  process.emitWarning('records in memory are lost with the process and not shared with any other', {
    type: 'OncekeyWarning',
    code: 'ONCEKEY_MEMORY_IN_PRODUCTION',
  })
}
