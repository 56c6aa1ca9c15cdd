/** Lets the taker's lease decide how long the owner's lasts: a route with a shorter one takes over work in progress. */
import { type BrokenStore, clear } from './broken-store.ts'

export const takersLease: BrokenStore = {
  name: 'takers-lease',
  report: 'aws-powertools/powertools-lambda-python#1038',
  breaks: [
    "a taker with a shorter lease waits for the record's own",
    'an abandoned claim is not taken over past what the downstream remembers',
  ],
  vary: (driver) => ({
    async claim(wanted) {
      const seen = await driver.read(wanted.id)
      const age = seen.kind === 'record' ? seen.ageMs : undefined
      if (
        age !== undefined &&
        age >= wanted.policy.leaseMs &&
        seen.kind === 'record' &&
        seen.onAbandoned === 'takeover'
      )
        if (wanted.prints.includes(seen.print)) await clear(driver, wanted.id)
      return driver.claim(wanted)
    },
  }),
}
