/** A rule of the store contract as data, so that it can be listed, run, skipped with a reason, and named by a test. */
import type { Kit } from './kit.ts'
import type { Capabilities } from './subject.ts'

export type Need =
  | 'several'
  | 'reopen'
  | 'faults'
  | 'effects'
  | 'damage'
  | 'behind'
  | 'intruders'
  | 'sever'
  | 'moved clock'
  | 'vanishing owners'
  | 'clock of its own'
  | 'audited changes'

export interface Rule {
  /** The rule of the protocol that it shows. */
  readonly rule: string
  /** Unique; reads as the rule. */
  readonly title: string
  /** The public report of the failure that it keeps away, `owner/repo#n`. */
  readonly report?: string
  readonly mode?: 'transaction' | 'lease'
  readonly needs?: readonly Need[]
  run(kit: Kit): Promise<void>
}

/** Why the rule cannot be shown here; nothing where it can. */
export function reasonToSkip({ mode, needs = [] }: Rule, capabilities: Capabilities): string | undefined {
  if (mode && mode !== capabilities.mode) return `it is about ${mode} mode`
  const missing = needs.filter((need) => !isThere(need, capabilities))
  return missing.length === 0 ? undefined : `this store's subject has no ${missing.join(', no ')}`
}

function isThere(need: Need, capabilities: Capabilities): boolean {
  const moved = capabilities.clock === 'moved'
  if (need === 'moved clock') return moved
  if (need === 'clock of its own') return moved || capabilities.callersClock !== true
  // Where time is moved, an owner is as good as gone; else its beats have to be kept from arriving.
  if (need === 'vanishing owners') return moved || capabilities.faults === true
  if (need === 'intruders') return capabilities.behind === true && capabilities.heldRow !== true
  if (need === 'audited changes') return capabilities.audited !== false
  return capabilities[need] === true
}
