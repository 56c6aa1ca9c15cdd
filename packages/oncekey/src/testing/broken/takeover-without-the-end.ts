/** Sees that a lease ran out and then writes without asking again: two takers of one abandoned claim both win. */
import { judge } from '../../core/record.ts'
import { aFlight, type BrokenStore, clear } from './broken-store.ts'

export const takeoverWithoutTheEnd: BrokenStore = {
  name: 'takeover-without-the-end',
  breaks: ['of two takers of an abandoned claim one wins'],
  vary: (driver) => ({
    async claim(wanted) {
      const seen = await driver.read(wanted.id)
      const abandoned = seen.kind === 'record' && seen.record.state === 'running'
      if (abandoned && judge(seen, wanted.prints, wanted.token).kind === 'runnable') {
        await aFlight()
        await clear(driver, wanted.id)
      }
      return driver.claim(wanted)
    },
  }),
}
