/** Looks first and writes afterwards, without a condition: two callers who look in the same instant both win. */
import { judge } from '../../core/record.ts'
import { aFlight, type BrokenStore, clear } from './broken-store.ts'

export const checkThenInsert: BrokenStore = {
  name: 'check-then-insert',
  report: 'idempot-dev/idempot-js#182',
  breaks: [
    'of two first requests that differ one runs, and the loser of that race is compared too',
    'fifty parallel claims have one winner, and no loser fails, twenty times over',
  ],
  vary: (driver) => ({
    async claim(wanted) {
      const seen = await driver.read(wanted.id)
      await aFlight()
      if (judge(seen, wanted.prints, wanted.token).kind !== 'runnable') return driver.claim(wanted)
      if (seen.kind === 'absent') await clear(driver, wanted.id)
      return driver.claim(wanted)
    },
  }),
}
