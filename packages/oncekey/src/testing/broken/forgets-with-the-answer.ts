/** Lets the key go with the answer, whatever was asked for: a late retry with another body is a new operation to it. */
import type { BrokenStore } from './broken-store.ts'

export const forgetsWithTheAnswer: BrokenStore = {
  name: 'forgets-with-the-answer',
  breaks: [
    'a tombstone outlives the answer: the key stays bound to its request, and nothing runs again',
    'a key whose answer was not kept is bound for as long as one whose answer leaves a tombstone',
    'answer and tombstone end at their instants, and not before',
    'a sweep takes the answer and leaves the tombstone, whether a body is large, empty or none of ours',
    'what a sweep left of an answer is removed when its tombstone ends',
    'an erased answer keeps its key bound until its last end, and no longer',
  ],
  vary: (driver) => ({
    complete(mine, kept) {
      const { tombstoneMs: _, ...policy } = mine.policy
      return driver.complete({ ...mine, policy }, kept)
    },
  }),
}
