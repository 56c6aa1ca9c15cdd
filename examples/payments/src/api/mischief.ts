// What the demo's cards do in transaction mode, where no bank is asked: once per key, remembered in this process's memory.
import { setTimeout as sleep } from 'node:timers/promises'

export interface Mischief {
  /** Runs inside the work, before the row is written. Throws for `tok_error`. */
  beforeRow(card: string, key: string): Promise<void>
  /** True where this answer is to be cut after its commit (`tok_lost`). */
  loses(card: string, key: string): boolean
}

export function mischief(): Mischief {
  const met = new Set<string>()
  const first = (what: string) => !met.has(what) && met.add(what) !== undefined
  return {
    async beforeRow(card, key) {
      if (card === 'tok_slow' && first(`slow ${key}`)) await sleep(600)
      if (card === 'tok_error' && first(`error ${key}`)) throw new Error('tok_error: the work failed on purpose')
    },
    loses(card, key) {
      return card === 'tok_lost' && first(`lost ${key}`)
    },
  }
}
