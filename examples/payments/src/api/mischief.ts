// What the demo's cards do in transaction mode, where no bank is asked: once per key, remembered in this process's memory.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Mischief {
  /** Runs inside the work, before the row is written: `tok_slow` waits, `tok_error` throws. */
  beforeRow(card: string, key: string): Promise<void>
  /** For `tok_lost`: the answer is made, committed, and never sent. */
  loseAnswer(card: string, key: string, response: ServerResponse): void
}

export function mischief(): Mischief {
  const met = new Set<string>()
  const first = (what: string) => !met.has(what) && met.add(what) !== undefined
  return {
    async beforeRow(card, key) {
      if (card === 'tok_slow' && first(`slow ${key}`)) await sleep(600)
      if (card === 'tok_error' && first(`error ${key}`)) throw new Error('tok_error: the work failed on purpose')
    },
    loseAnswer(card, key, response) {
      if (card !== 'tok_lost' || !first(`lost ${key}`)) return
      // Mounted outside of oncekey, so that this is what it calls when the attempt has ended.
      response.writeHead = (() => response.destroy()) as unknown as ServerResponse['writeHead']
      response.end = (() => response.destroy()) as unknown as ServerResponse['end']
    },
  }
}
