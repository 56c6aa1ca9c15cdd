/** Makes a token for each send instead of for each claim: when the reply is lost, the caller loses to itself. */
import { randomHex } from '../../core/digest.ts'
import type { Held } from '../../core/store.ts'
import type { BrokenStore } from './broken-store.ts'

export const ownTokenNotRecognised: BrokenStore = {
  name: 'own-token-not-recognised',
  breaks: [
    'a claim whose reply is lost is sent again, finds its own token and has won',
    'the same execution enters again, in another process, with the same fence',
    'an ending whose reply is lost is read back, and is no failure',
  ],
  vary(driver) {
    const sent = new Map<string, string>()
    const held = (mine: Held): Held => ({ ...mine, token: sent.get(mine.token) ?? mine.token })
    return {
      claim(wanted) {
        const token = randomHex(16)
        sent.set(wanted.token, token)
        return driver.claim({ ...wanted, token })
      },
      renew: (mine) => driver.renew(held(mine)),
      complete: (mine, kept) => driver.complete(held(mine), kept),
      release: (mine, to) => driver.release(held(mine), to),
      hold: (mine, why) => driver.hold(held(mine), why),
    }
  },
}
