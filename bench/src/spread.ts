// The middle of several values, and how far they lie apart.
export interface Spread {
  readonly median: number
  /** The quartiles. */
  readonly low: number
  readonly high: number
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) }
}

export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN
}

/** `1` where all are the same, else `1-3`. */
export function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least === most ? String(least) : `${least}-${most}`
}
