/** What scripts answer, as this process wants it. */
import { Buffer } from 'node:buffer'

/** A text; empty where there is none. */
export function word(reply: unknown): string {
  return Buffer.isBuffer(reply) ? reply.toString('utf8') : typeof reply === 'string' ? reply : ''
}

export function bytesIn(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply
  throw new Error('the client answered with text where bytes were asked for')
}

export function isDone(answer: readonly unknown[]): boolean {
  return word(answer[0]) === 'd'
}
