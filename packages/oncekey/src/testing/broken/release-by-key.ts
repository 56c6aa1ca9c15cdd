/** Releases by key alone: an owner that was taken over frees the claim of the new one, and a third runs. */
import { asWhoeverOwnsIt, type BrokenStore } from './broken-store.ts'

export const releaseByKey: BrokenStore = {
  name: 'release-by-key',
  report: 'KanishJebaMathewM/Truxify#4623',
  breaks: ['the release of an owner that was taken over frees nothing'],
  vary: (driver) => ({
    release: async (mine, to) => driver.release(await asWhoeverOwnsIt(driver, mine), to),
  }),
}
