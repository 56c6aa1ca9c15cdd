/** Counts fences in the record and begins at one again when it was removed: a former owner's fence comes back. */
import type { Held } from '../../core/store.ts'
import type { BrokenStore } from './broken-store.ts'

export const fenceRestarts: BrokenStore = {
  name: 'fence-restarts',
  breaks: ['every claim of a key has a greater fence than the one before'],
  vary(driver) {
    const told = new Map<string, { fence: bigint; inside: bigint }>()
    const inside = (mine: Held): Held => ({ ...mine, fence: told.get(mine.id)?.inside ?? mine.fence })
    return {
      async claim(wanted) {
        const claimed = await driver.claim(wanted)
        if (claimed.kind !== 'won') return claimed
        const last = claimed.fresh ? undefined : told.get(wanted.id)
        const fence = last?.inside === claimed.fence ? last.fence : (last?.fence ?? 0n) + 1n
        told.set(wanted.id, { fence, inside: claimed.fence })
        return { ...claimed, fence }
      },
      renew: (mine) => driver.renew(inside(mine)),
      complete: (mine, kept) => driver.complete(inside(mine), kept),
      release: (mine, to) => driver.release(inside(mine), to),
      hold: (mine, why) => driver.hold(inside(mine), why),
    }
  },
}
