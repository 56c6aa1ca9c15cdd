/** Runs the work of the winner, and ends it when it takes too long, the store closes or its connection dies (T12). */
import type { Verdict } from '../../core/store.ts'

export type Worked =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  /** It still runs: its connection must never serve anybody else. */
  | { readonly kind: 'overran'; readonly why: string }

export interface Limits {
  readonly workMs: number
  /** The connection died: the signal aborts, and the end of the work is awaited all the same. */
  readonly gone: AbortSignal
  /** The store's deadline for draining is over. */
  readonly closing: AbortSignal
}

/** Work that rejects frees the key: everything that it did was rolled back. */
export function runWork(start: (signal: AbortSignal) => Promise<Verdict>, limits: Limits): Promise<Worked> {
  const { workMs, gone, closing } = limits
  const controller = new AbortController()
  return new Promise((resolve) => {
    const timer = setTimeout(() => giveUp(`it took longer than ${workMs} ms`), workMs)
    gone.addEventListener('abort', lose, { once: true })
    closing.addEventListener('abort', close, { once: true })
    if (gone.aborted) lose()

    function lose(): void {
      controller.abort(gone.reason)
    }
    function close(): void {
      giveUp('the store was closed')
    }
    function giveUp(why: string): void {
      settle({ kind: 'overran', why })
      controller.abort(new Error(`The work was given up: ${why}.`))
    }
    function settle(worked: Worked): void {
      clearTimeout(timer)
      gone.removeEventListener('abort', lose)
      closing.removeEventListener('abort', close)
      resolve(worked)
    }
    // A work that throws before its first await rejects like any other.
    new Promise<Verdict>((begun) => begun(start(controller.signal))).then(
      (verdict) => settle({ kind: 'verdict', verdict }),
      () => settle({ kind: 'verdict', verdict: { kind: 'free' } }),
    )
  })
}
