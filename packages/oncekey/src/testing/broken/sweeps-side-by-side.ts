/** Sweeps whenever it is told to, as each of ten hosts does with a timer of its own. */
import { aFlight, type BrokenStore } from './broken-store.ts'

export const sweepsSideBySide: BrokenStore = {
  name: 'sweeps-side-by-side',
  breaks: ['one sweep runs at a time, and whoever comes second is told so'],
  vary: (driver) => ({
    admin: {
      ...driver.admin,
      async sweep(options) {
        for (;;) {
          const { elsewhere, ...swept } = await driver.admin.sweep(options)
          if (!elsewhere) return swept
          await aFlight()
        }
      },
    },
  }),
}
