/** Frees the key when the answer cannot be saved: the work has taken effect, and the retry does it again. */
import type { BrokenStore } from './broken-store.ts'

export const freesWhatItCannotSave: BrokenStore = {
  name: 'frees-what-it-cannot-save',
  report: 'pathosDev/actor-ts#984',
  breaks: [
    'an ending that never arrived is sent again, and is no failure',
    'an answer that cannot be saved is an unknown outcome, and its key is never freed',
    'where the store takes neither answer nor hold, the record goes by its own rule at the end of its lease',
  ],
  vary: (driver) => ({
    complete: (mine, kept) => driver.complete(mine, kept).catch(() => driver.release(mine, 'free')),
  }),
}
