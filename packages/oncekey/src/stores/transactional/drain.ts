/** Shutdown: nothing new begins, what runs may end, and after a deadline it is given up. */
import { setMaxListeners } from 'node:events'
import { sleep } from '../../core/clock.ts'

export interface Drain {
  /** Nothing once the store closes; else the function that leaves. */
  enter(): (() => void) | undefined
  /** Closes, and resolves when everybody has left. */
  wait(): Promise<void>
  /** Aborts when the deadline is over. */
  readonly over: AbortSignal
}

export function drain(drainMs: number): Drain {
  const deadline = new AbortController()
  // Everybody who runs listens to it, and Node would warn of a leak at the eleventh.
  setMaxListeners(0, deadline.signal)
  let inside = 0
  let empty: (() => void) | undefined
  let closing: Promise<void> | undefined

  function leave(): void {
    inside -= 1
    if (inside === 0) empty?.()
  }
  return {
    over: deadline.signal,
    enter() {
      if (closing) return undefined
      inside += 1
      return leave
    },
    wait() {
      closing ??= everybodyOut()
      return closing
    },
  }

  async function everybodyOut(): Promise<void> {
    if (inside === 0) return
    const out = new Promise<void>((resolve) => {
      empty = resolve
    })
    const stop = new AbortController()
    await Promise.race([out, sleep(drainMs, stop.signal)])
    stop.abort()
    deadline.abort()
    await out
  }
}
