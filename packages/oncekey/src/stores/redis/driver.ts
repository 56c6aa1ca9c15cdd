/** The lease port over Redis: each step is one script on one key, judged and written by the server's own clock. */
import { Buffer } from 'node:buffer'
import { writeLabel } from '../../core/label.ts'
import type { Seen } from '../../core/record.ts'
import type { Held, Kept, LeaseDriver, Owned } from '../../core/store.ts'
import { writeKept } from '../kept.ts'
import type { Argument } from './connection.ts'
import type { Keys } from './keys.ts'
import { seenIn } from './layout.ts'
import type { Scripts } from './scripts/index.ts'
import type { Script } from './scripts/script.ts'
import type { Send } from './send.ts'
import { STATE } from './state.ts'
import { bytesIn, isDone, word } from './word.ts'

export interface Parts {
  readonly send: Send
  readonly keys: Keys
  readonly scripts: Scripts
  /** Refuses records that this build must not touch; asked before every step, and answered from memory. */
  readonly ready: () => Promise<void>
}
type Steps = Pick<LeaseDriver, 'claim' | 'complete' | 'renew' | 'release' | 'hold' | 'read'>

export function steps({ send, keys, scripts, ready }: Parts): Steps {
  async function ask(script: Script, id: string, args: readonly Argument[] = []): Promise<unknown[]> {
    await ready()
    return send(script, keys.record(id), args)
  }

  async function write(script: Script, mine: Held, ...args: Argument[]): Promise<'done' | Seen> {
    const answer = await ask(script, mine.id, [bytesOf(mine.token), String(mine.fence), ...args])
    return isDone(answer) ? 'done' : standing(mine.id, answer)
  }

  return {
    async claim({ id, token, prints, policy, label }) {
      const { leaseMs, retainMs, dedupesForMs = '' } = policy
      const answer = await ask(scripts.claim, id, [
        bytesOf(token),
        bytesOf(prints.join('')),
        runningState(policy),
        String(leaseMs),
        String(retainMs),
        String(dedupesForMs),
        Buffer.from(writeLabel(label)),
      ])
      if (word(answer[0]) !== 'w') return standing(id, answer)
      const what = word(answer[2])
      return { kind: 'won', fence: BigInt(word(answer[1])), takenOver: what === 't', fresh: what === 'f' }
    },
    renew: (mine) => write(scripts.renew, mine, runningState(mine.policy), String(mine.policy.leaseMs)),
    async complete(mine, kept) {
      const { state, body, retainMs, tombstoneMs } = asKept(mine, kept)
      return write(scripts.complete, mine, String(state), String(retainMs), String(tombstoneMs), Buffer.from(body))
    },
    release: (mine, to) =>
      to === 'free'
        ? write(scripts.releaseFree, mine)
        : write(scripts.releaseRetry, mine, String(mine.policy.retainMs)),
    hold: (mine, why) => write(scripts.hold, mine, shortened(why)),
    read: async (id) => standing(id, await ask(scripts.read, id)),
  }
}

/** What a script answers that changed nothing: the server's clock, and the record. */
export function standing(id: string, answer: readonly unknown[]): Seen {
  const [, us, bytes] = answer
  return seenIn(id, bytesIn(bytes), Number(word(us)))
}

function runningState({ onAbandoned }: Owned['policy']): string {
  return String(onAbandoned === 'takeover' ? STATE.takeover : STATE.hold)
}

/** What is kept, with the tombstone in front where one is wanted; of what is spent people still see what it was. */
function asKept({ policy, label }: Held, kept: Kept) {
  const { retainMs, tombstoneMs } = policy
  if ('spent' in kept) {
    const { spent: why, head } = kept
    const body = writeLabel({ ...label, why, ...(head ? { head } : {}) })
    // There is no answer to outlive: the key is bound for as long as if there were one.
    return { state: STATE.spent, retainMs: retainMs + (tombstoneMs ?? 0), tombstoneMs: 0, body }
  }
  return tombstoneMs === undefined
    ? { state: STATE.finished, retainMs, tombstoneMs: 0, body: writeKept(kept) }
    : { state: STATE.tombstoned, retainMs, tombstoneMs, body: writeKept(kept, true) }
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

/** For people; what somebody else's error said may be of any length. */
const MAX_WHY = 4_000

export function shortened(why: string): string {
  return why.slice(0, MAX_WHY)
}
