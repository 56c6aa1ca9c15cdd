/** Removes whatever nobody touched for a while: an unknown outcome is forgotten, and its key runs again. */
import { type BrokenStore, clear } from './broken-store.ts'

export const sweepsTooMuch: BrokenStore = {
  name: 'sweeps-too-much',
  breaks: [
    'a sweep removes what is past its end and nothing else, in batches, as often as one likes',
    'a sweep abandons running records past their lease, and their owner may still finish',
  ],
  vary: (driver) => ({
    admin: {
      ...driver.admin,
      async sweep(options) {
        const swept = await driver.admin.sweep(options)
        for await (const { id } of driver.admin.list({ state: 'unknown', limit: 1_000 })) await clear(driver, id)
        return swept
      },
    },
  }),
}
