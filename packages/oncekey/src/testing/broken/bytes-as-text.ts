/** Keeps answers in a text column: what is not valid UTF-8 comes back changed. */
import type { BrokenStore } from './broken-store.ts'

export const bytesAsText: BrokenStore = {
  name: 'bytes-as-text',
  breaks: ['a receipt of any bytes, up to 1 MiB, comes back as it was'],
  vary: (driver) => ({
    complete(mine, kept) {
      if (!('receipt' in kept)) return driver.complete(mine, kept)
      return driver.complete(mine, {
        ...kept,
        receipt: new TextEncoder().encode(new TextDecoder().decode(kept.receipt)),
      })
    },
  }),
}
