/** Lets work run when the store does not answer: for as long as the outage lasts every duplicate passes. */
import type { BrokenStore } from './broken-store.ts'

export const failsOpen: BrokenStore = {
  name: 'fails-open',
  report: 'langfuse/langfuse#15463',
  breaks: [
    'a claim whose reply is lost is sent again, finds its own token and has won',
    'a claim that never arrived is sent again',
    'a store that fails every claim is unavailable, and nothing runs',
  ],
  vary: (driver) => ({
    claim: (wanted) => driver.claim(wanted).catch(() => ({ kind: 'won', fence: 1n }) as const),
  }),
}
