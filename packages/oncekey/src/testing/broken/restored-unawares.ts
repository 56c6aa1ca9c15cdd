/** Knows nothing of restores: what was at work in the backup is taken over, and what was lost runs again. */
import type { BrokenStore } from './broken-store.ts'

export const restoredUnawares: BrokenStore = {
  name: 'restored-unawares',
  breaks: [
    'after a restore running and open records are unknown, and kept answers answer',
    'a restore is told to whoever opens the store, until it is reconciled',
    'after a restore an operation that is not there is run or refused, as the operator said',
  ],
  vary: (driver) => ({
    restored: async () => undefined,
    admin: { ...driver.admin, restored: async () => ({ unknown: 0 }) },
  }),
}
