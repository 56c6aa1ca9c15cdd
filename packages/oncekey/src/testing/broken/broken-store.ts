/** A store with one fault, made of the one in memory: it shows that the contract would notice. */
import type { Held, LeaseDriver } from '../../core/store.ts'

export interface BrokenStore {
  readonly name: string
  /** Where the fault was met in public. */
  readonly report?: string
  /** The titles of the rules that it breaks, all of them. */
  readonly breaks: readonly string[]
  vary(driver: LeaseDriver): Partial<LeaseDriver>
}

/** The claim as whoever stands in the record now: what a write without a compare amounts to. */
export async function asWhoeverOwnsIt(driver: LeaseDriver, mine: Held): Promise<Held> {
  const seen = await driver.read(mine.id)
  if (seen.kind === 'absent' || seen.token === undefined || seen.record.fence === undefined) return mine
  return { ...mine, token: seen.token, fence: seen.record.fence }
}

/** Removes the record whatever it is, as an unconditional write would overwrite it. */
export async function clear(driver: LeaseDriver, id: string): Promise<void> {
  const seen = await driver.admin.find({ id })
  if (seen) await driver.admin.forget(seen, { who: 'broken', why: 'overwritten', force: true })
}

/** Where a statement would have travelled: others get their turn. */
export function aFlight(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}
