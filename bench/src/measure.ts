// Side by side in one run: in every round each contender runs once, in random order, and ratios are taken within the round.
export interface Contender {
  readonly name: string
  /** One operation. */
  once(): Promise<unknown>
}
export interface Lineup {
  readonly rounds: number
  /** Operations for each contender and round. */
  readonly operations: number
  /** How many run at the same time. */
  readonly callers?: number
}
export interface Measured {
  readonly name: string
  /** Milliseconds, the median over the rounds. */
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
  /** To the first contender: in-round ratios of p50 (one caller) or of operations per second (several). */
  readonly ratio: Spread
}
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** The first contender is the base. */
export async function sideBySide(
  contenders: readonly Contender[],
  { rounds, operations, callers = 1 }: Lineup,
): Promise<readonly Measured[]> {
  const samples = new Map<string, { p50: number; p99: number; perSecond: number }[]>(
    contenders.map(({ name }) => [name, []]),
  )
  for (const contender of contenders) await burst(contender, Math.ceil(operations / 4), callers)
  for (let round = 0; round < rounds; round++) {
    for (const contender of shuffled(contenders))
      samples.get(contender.name)?.push(await burst(contender, operations, callers))
  }
  const base = samples.get((contenders[0] as Contender).name) ?? []
  return contenders.map(({ name }) => {
    const own = samples.get(name) ?? []
    const ratios = own.map((sample, round) => {
      const beside = base[round] as (typeof own)[number]
      return callers === 1 ? sample.p50 / beside.p50 : sample.perSecond / beside.perSecond
    })
    return {
      name,
      p50: quantile(
        own.map((sample) => sample.p50),
        0.5,
      ),
      p99: quantile(
        own.map((sample) => sample.p99),
        0.5,
      ),
      perSecond: quantile(
        own.map((sample) => sample.perSecond),
        0.5,
      ),
      ratio: spread(ratios),
    }
  })
}

async function burst(
  { once }: Contender,
  operations: number,
  callers: number,
): Promise<{ p50: number; p99: number; perSecond: number }> {
  const times: number[] = []
  let left = operations
  const started = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left-- > 0) {
        const before = performance.now()
        await once()
        times.push(performance.now() - before)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond: operations / seconds }
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) }
}

export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
