// Side by side in one run: in every round each contender runs once, in random order, and ratios are taken within the round.
import { quantile, type Spread, spread } from './spread.ts'

export interface Contender {
  readonly name: string
  /** One operation. It answers with its own milliseconds where only a part of it is meant. */
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
  /** The same to any other contender. */
  to(name: string): number
}
interface Sample {
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
}

/** The first contender is the base. */
export async function sideBySide(
  contenders: readonly Contender[],
  { rounds, operations, callers = 1 }: Lineup,
): Promise<readonly Measured[]> {
  const samples = new Map<string, Sample[]>(contenders.map(({ name }) => [name, []]))
  // The first round is not counted: it compiles the code and opens the connections.
  for (let round = -1; round < rounds; round++) {
    for (const contender of shuffled(contenders)) {
      const sample = await burst(contender, round < 0 ? Math.ceil(operations / 2) : operations, callers)
      if (round >= 0) samples.get(contender.name)?.push(sample)
    }
  }
  const between = (name: string, base: string | undefined): Spread => {
    const bases = samples.get(base ?? '') ?? []
    return spread(
      (samples.get(name) ?? []).map((own, round) => {
        const beside = bases[round] as Sample
        return callers === 1 ? own.p50 / beside.p50 : own.perSecond / beside.perSecond
      }),
    )
  }
  const middle = (name: string, of: keyof Sample) =>
    quantile(
      (samples.get(name) ?? []).map((sample) => sample[of]),
      0.5,
    )
  return contenders.map(({ name }) => ({
    name,
    p50: middle(name, 'p50'),
    p99: middle(name, 'p99'),
    perSecond: middle(name, 'perSecond'),
    ratio: between(name, contenders[0]?.name),
    to: (base) => between(name, base).median,
  }))
}

async function burst({ once }: Contender, operations: number, callers: number): Promise<Sample> {
  const times: number[] = []
  let left = operations
  const started = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left-- > 0) {
        const before = performance.now()
        const own = await once()
        times.push(typeof own === 'number' ? own : performance.now() - before)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond: operations / seconds }
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
