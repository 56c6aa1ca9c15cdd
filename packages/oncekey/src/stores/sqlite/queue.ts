/** One transaction at a time on the connection that writes, first come first served, with rests for other processes. */
import { monotonic, sleep } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { lockTimeout } from './failure.ts'

export interface WriteQueue {
  /** Answers with what hands the place on. Rejects with `STORE_UNAVAILABLE` past `until` or where too many wait, with the signal's reason when it aborts. */
  enter(until: number, signal?: AbortSignal): Promise<() => void>
  /** Nobody is inside and nobody waits. */
  idle(): Promise<void>
}

/** So much of the lock in one go, and then a rest: a process that asks every few ms finds its turn, and timers fire. */
const SPELL_MS = 10
/** A twentieth of the time held, in ms: as long as another process's pause after a spell of long transactions. */
const REST = { share: 20, min: 1, max: 20 } as const

interface Waiting {
  readonly go: () => void
}

export function writeQueue({ lockMs, maxQueue }: { readonly lockMs: number; readonly maxQueue: number }): WriteQueue {
  const waiting = new Set<Waiting>()
  const idlers: (() => void)[] = []
  let taken = false
  let heldMs = 0
  let lastLeft = 0

  function next(): void {
    const [first] = waiting
    if (first === undefined) {
      taken = false
      for (const idler of idlers.splice(0)) idler()
      return
    }
    first.go()
  }

  function leaver(): () => void {
    const entered = monotonic()
    let left = false
    return function leave() {
      if (left) return
      left = true
      lastLeft = monotonic()
      heldMs += lastLeft - entered
      if (heldMs < SPELL_MS) return next()
      const rest = Math.min(REST.max, Math.max(REST.min, heldMs / REST.share))
      heldMs = 0
      void sleep(rest).then(next)
    }
  }

  return {
    enter(until, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason)
      if (!taken) {
        taken = true
        if (monotonic() - lastLeft >= REST.min) heldMs = 0
        return Promise.resolve(leaver())
      }
      if (waiting.size >= maxQueue) return Promise.reject(crowded(maxQueue))
      return new Promise((resolve, reject) => {
        const mine: Waiting = {
          go() {
            stopWaiting()
            resolve(leaver())
          },
        }
        function stopWaiting(): void {
          clearTimeout(timer)
          signal?.removeEventListener('abort', leave)
          waiting.delete(mine)
        }
        function leave(): void {
          stopWaiting()
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', leave, { once: true })
        const timer = setTimeout(
          () => {
            stopWaiting()
            reject(lockTimeout(lockMs, 'sqlite'))
          },
          Math.max(0, until - monotonic()),
        )
        waiting.add(mine)
      })
    },
    idle() {
      return taken ? new Promise((resolve) => idlers.push(resolve)) : Promise.resolve()
    },
  }
}

function crowded(maxQueue: number): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: `${maxQueue} operations wait for the file already.`,
    where: 'sqlite',
    why: 'A queue that grows faster than it is served answers nobody in time.',
    fix: 'Send less, make the work shorter, or raise `maxQueue`.',
    details: { maxQueue },
  })
}
