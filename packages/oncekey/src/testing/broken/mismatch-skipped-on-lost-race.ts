/** Compares requests when it looks, and not when its insert is refused: the loser of a race is told to wait for another's answer. */
import type { BrokenStore } from './broken-store.ts'

export const mismatchSkippedOnLostRace: BrokenStore = {
  name: 'mismatch-skipped-on-lost-race',
  report: 'aws-powertools/powertools-lambda-typescript#2058',
  breaks: ['of two first requests that differ one runs, and the loser of that race is compared too'],
  vary: (driver) => ({
    async claim(wanted) {
      const seen = await driver.read(wanted.id)
      const claimed = await driver.claim(wanted)
      return seen.kind === 'absent' && claimed.kind === 'record' ? { ...claimed, print: wanted.prints[0] } : claimed
    },
  }),
}
