/** Erases an answer by removing its record, as a request to delete personal data is often met: the key is free, and the operation runs again. */
import type { BrokenStore } from './broken-store.ts'

export const freesWhatItErases: BrokenStore = {
  name: 'frees-what-it-erases',
  breaks: [
    'an erased answer is gone, its key stays bound, and nothing runs again',
    'an erased answer keeps its key bound until its last end, and no longer',
  ],
  vary: (driver) => ({
    admin: {
      ...driver.admin,
      erase: (seen, by) => (seen.state === 'finished' ? driver.admin.forget(seen, by) : driver.admin.erase(seen, by)),
    },
  }),
}
