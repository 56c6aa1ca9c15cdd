/** Durations as people write them, and the two clocks of a process: one that only measures, one that only waits. */
import { OncekeyError } from './errors.ts'

/** A bare number is milliseconds; `'250ms'`, `'30s'`, `'5m'`, `'24h'`, `'30d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds, a finite number that is not negative. `name` is the option's name, for the error (`INVALID_OPTION`). */
export function milliseconds(duration: Duration, name: string): number {
  const written = typeof duration === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) : undefined
  const value = written ? Number(written[1]) * UNITS[written[2] as keyof typeof UNITS] : duration
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return Math.round(value)
  throw new OncekeyError('INVALID_OPTION', {
    what: `${name} is not a duration: ${JSON.stringify(duration)}.`,
    where: name,
    why: 'A duration that means something else than its author thought ends leases or answers at the wrong time.',
    fix: "Give milliseconds as a number, or a text such as '250ms', '30s', '5m', '24h' or '30d'.",
  })
}

/** Milliseconds of a clock that never jumps; only differences of it mean anything. */
export function monotonic(): number {
  return performance.now()
}

/** Waits, and ends early (without an error) when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
  })
}
