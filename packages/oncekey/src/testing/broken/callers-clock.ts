/** Judges a lease by the clock of whoever asks: a host whose clock runs ahead takes over work in progress. */
import { type BrokenStore, clear } from './broken-store.ts'

export const callersClock: BrokenStore = {
  name: 'callers-clock',
  breaks: ['a caller whose clock runs ahead takes nothing over'],
  vary: (driver) => ({
    async claim(wanted) {
      const seen = await driver.read(wanted.id)
      const { leaseEndsAt } = seen.kind === 'record' ? seen.record : {}
      if (
        leaseEndsAt &&
        seen.kind === 'record' &&
        seen.onAbandoned === 'takeover' &&
        Date.now() >= leaseEndsAt.getTime()
      )
        if (wanted.prints.includes(seen.print)) await clear(driver, wanted.id)
      return driver.claim(wanted)
    },
  }),
}
