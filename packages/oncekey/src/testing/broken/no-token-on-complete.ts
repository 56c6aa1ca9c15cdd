/** Completes by key alone: an owner that was taken over overwrites the claim, or the answer, of the new one. */
import { asWhoeverOwnsIt, type BrokenStore } from './broken-store.ts'

export const noTokenOnComplete: BrokenStore = {
  name: 'no-token-on-complete',
  report: 'KanishJebaMathewM/Truxify#5912',
  breaks: ['the answer of an owner that was taken over is refused while the new owner is at work'],
  vary: (driver) => ({
    complete: async (mine, kept) => driver.complete(await asWhoeverOwnsIt(driver, mine), kept),
  }),
}
