/** Gives the whole record the lease as its time to live: an abandoned claim vanishes, and what it was bound to with it. */
import { type BrokenStore, clear } from './broken-store.ts'

export const leaseAsTimeToLive: BrokenStore = {
  name: 'lease-as-time-to-live',
  breaks: [
    'another request never takes over, also past the lease',
    'takeover or hold is what the owner said, not what the taker says',
    'an abandoned claim is not taken over past what the downstream remembers',
    'where the store takes neither answer nor hold, the record goes by its own rule at the end of its lease',
  ],
  vary: (driver) => ({
    async claim(wanted) {
      const seen = await driver.read(wanted.id)
      if (seen.kind === 'record' && (seen.leaseLeftMs ?? 1) <= 0) await clear(driver, wanted.id)
      return driver.claim(wanted)
    },
  }),
}
