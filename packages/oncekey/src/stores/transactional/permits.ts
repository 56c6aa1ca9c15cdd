/** How many winners may hold a connection at once, and the queue of those who would win (T13). Duplicates never queue. */

export interface Permits {
  /** A permit at once, or nothing. */
  take(): Permit | undefined
  /** A permit in turn; nothing when the queue is full, the wait is over, or it was told to stop. */
  queue(waitMs: number, signal?: AbortSignal): Promise<Permit | undefined>
  /** Everybody in the queue goes empty-handed. */
  close(): void
}
export interface Permit {
  release(): void
}

export function permits(maxWinners: number, maxQueue: number): Permits {
  let free = maxWinners
  const waiting = new Set<(permit: Permit | undefined) => void>()

  function permit(): Permit {
    let held = true
    return {
      release() {
        if (!held) return
        held = false
        const [next] = waiting
        if (next) next(permit())
        else free += 1
      },
    }
  }
  return {
    take() {
      if (free === 0 || waiting.size > 0) return undefined
      free -= 1
      return permit()
    },
    queue(waitMs, signal) {
      if (free > 0 && waiting.size === 0) {
        free -= 1
        return Promise.resolve(permit())
      }
      if (waiting.size >= maxQueue || signal?.aborted) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        const timer = setTimeout(leave, waitMs)
        signal?.addEventListener('abort', leave, { once: true })
        waiting.add(called)

        function leave(): void {
          called(undefined)
        }
        function called(given: Permit | undefined): void {
          waiting.delete(called)
          clearTimeout(timer)
          signal?.removeEventListener('abort', leave)
          resolve(given)
        }
      })
    },
    close() {
      for (const called of waiting) called(undefined)
    },
  }
}

/** All but a fifth, and at least one left over: duplicates are answered on what winners leave. */
export function winnersOf(connections: number): number {
  return Math.max(1, connections - Math.max(1, Math.floor(connections / 5)))
}
