/** One request as an adapter shows it, and what it is told to do with it: everything that differs between frameworks. */
import type { Answer } from './answer.ts'
import type { HeaderLine } from './kept-headers.ts'
import type { KeySource } from './key-header.ts'
import type { Produced } from './produced.ts'
import type { RequestBody } from './request-fingerprint.ts'

export interface Exchange<C> {
  /** What the user's functions are given. */
  readonly context: C
  readonly method: string
  /** As received, with the query; never a route's template. */
  readonly target: string
  header(name: string): string | undefined
  /** The lines of a field, as raw as the framework has them. */
  lines(header: string): KeySource
  /** Reads the body, at most `limit` bytes of it, and leaves it readable for whoever comes next. Throws `REQUEST_TOO_LARGE`, `BODY_UNREADABLE`. */
  body(limit: number): Promise<RequestBody>
  /** Aborts when the caller is gone; it ends waiting, never work. Asked for only where somebody waits. */
  signal?(): AbortSignal | undefined
  /** The objects that name this request; two protections around one of them is a mistake. */
  readonly identities: readonly object[]
  /** The work can be started a second time. */
  readonly repeatable: boolean
}

export type Handled =
  /** Not ours: the request goes on without protection. */
  | { readonly kind: 'untouched' }
  /** It ran, and the attempt has ended: the answer of the work may leave. */
  | { readonly kind: 'ran'; readonly produced: Produced; readonly extra: readonly HeaderLine[] }
  /** This is the answer; whatever the work may have produced is not. */
  | { readonly kind: 'answer'; readonly answer: Answer; readonly extra: readonly HeaderLine[] }

/** Lines in the order given, those of `extra` merged into a list of the same name. */
export function withExtra(headers: readonly HeaderLine[], extra: readonly HeaderLine[]): readonly HeaderLine[] {
  if (extra.length === 0) return headers
  const merged = headers.map(([name, value]): HeaderLine => {
    const added = extra.find(([other]) => other.toLowerCase() === name.toLowerCase())
    return added ? [name, `${value}, ${added[1]}`] : [name, value]
  })
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  return [...merged, ...extra.filter(([name]) => !names.has(name.toLowerCase()))]
}
