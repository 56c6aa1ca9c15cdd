// A race is run the same way whatever the store: everybody at once, then the charges are counted.
import { randomUUID } from 'node:crypto'
import { shuffled } from './measure.ts'
import type { Finding, Section } from './report.ts'
import { quantile, range } from './spread.ts'

export interface Strategy {
  readonly name: string
  /** Answers with what the caller was told. */
  once(key: string, workMs: number): Promise<string>
  /** Shown for what it does, and held to nothing. */
  readonly unsafe?: boolean
}
export interface Racing {
  readonly title: string
  readonly runs: number
  charges(key: string): Promise<number>
}
interface Run {
  readonly charges: number
  readonly answers: ReadonlyMap<string, number>
  readonly ms: number
}

export const RACERS = [50, 100]
const WORK_MS = 50

export async function race(strategies: readonly Strategy[], racing: Racing): Promise<readonly Section[]> {
  const sections: Section[] = []
  for (const strategy of strategies) await run(strategy, Math.max(...RACERS), racing)
  for (const racers of RACERS) {
    const runs = new Map<Strategy, Run[]>(strategies.map((strategy) => [strategy, []]))
    for (let count = 0; count < racing.runs; count++)
      for (const strategy of shuffled(strategies)) runs.get(strategy)?.push(await run(strategy, racers, racing))
    sections.push({
      title: `${racing.title}, ${racers} identical requests at once, ${WORK_MS} ms of work, ${racing.runs} runs`,
      rows: [...runs].map(([{ name }, ran]) => rowOf(name, ran)),
      findings: strategies
        .filter(({ unsafe }) => !unsafe)
        .map((strategy) => once(strategy.name, runs.get(strategy) ?? [], racers)),
    })
  }
  return sections
}

async function run({ once }: Strategy, racers: number, { charges }: Racing): Promise<Run> {
  const key = randomUUID()
  const started = performance.now()
  const all = await Promise.all(Array.from({ length: racers }, () => once(key, WORK_MS).catch(() => 'error')))
  const ms = performance.now() - started
  const answers = new Map<string, number>()
  for (const answer of all) answers.set(answer, (answers.get(answer) ?? 0) + 1)
  return { charges: await charges(key), answers, ms }
}

function rowOf(name: string, ran: readonly Run[]): Section['rows'][number] {
  const kinds = [...new Set(ran.flatMap(({ answers }) => [...answers.keys()]))].sort()
  const answers = kinds.map((kind) => `${range(ran.map((one) => one.answers.get(kind) ?? 0))} ${kind}`)
  return {
    strategy: name,
    'charges per run': range(ran.map(({ charges }) => charges)),
    'all back, ms': quantile(
      ran.map(({ ms }) => ms),
      0.5,
    ).toFixed(1),
    answers: answers.join(', '),
  }
}

function once(name: string, ran: readonly Run[], racers: number): Finding {
  const counts = ran.map(({ charges }) => charges)
  const value = Math.min(...counts) < 1 ? 0 : Math.max(...counts)
  return { what: `${name}: charges per run, ${racers} at once`, value, must: 1, bound: 'exact' }
}
