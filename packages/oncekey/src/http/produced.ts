/** What the work produced: its answer, or the head of one whose body is not kept. */
import type { SpentWhy } from '../core/store.ts'
import type { Answer } from './answer.ts'

export interface Produced {
  readonly answer: Answer
  /** The body is not kept: it is a stream, or too large. The adapter sends it itself. */
  readonly unkept?: SpentWhy
  /** The work threw this, and the framework made the answer of it. */
  readonly threw?: { readonly error: unknown }
}

/** What becomes of an answer whose body is not at hand when the handler has answered. */
export type Streams =
  /** Held back to its end, up to the limit. */
  | 'buffer'
  /** The record says that it happened; the body goes out as it comes, and is not kept. */
  | 'spend'
  /** A request that asks for a stream is refused before the work. */
  | 'refuse'

/** Statuses of RFC 9110 that never have content. */
export function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 205 || status === 304
}
