/** Values as our statements take them: digests as bytes, times as microseconds. */

/** A digest, a token, or whatever bytes. */
export function bytes(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value.replaceAll('-', ''), 'hex') : Buffer.from(value)
}

/** A century: past it a number would not be exact any more. */
const LONGEST_MS = 100 * 365 * 86_400_000

/** Milliseconds as microseconds; null stays null, and so does every sum with it. */
export function micros(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.round(Math.min(ms, LONGEST_MS) * 1_000)
}

/** A fence: a time in microseconds, so a double holds it until the year 2255. */
export function fenceParam(fence: string | number | bigint | null | undefined): number | null {
  return fence === null || fence === undefined ? null : Number(fence)
}
