// A key that is held while 99 duplicates arrive: how long until all of them are back, beside as many lookups.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { shuffled } from './measure.ts'
import { quantile, type Spread, spread } from './spread.ts'

export interface Held {
  readonly name: string
  /** Takes the key, says so, and works on until `over`. */
  hold(key: string, taken: () => void, over: Promise<unknown>): Promise<unknown>
  duplicate(key: string): Promise<unknown>
}
export interface PiledUp {
  readonly name: string
  readonly ms: number
  /** To the first. */
  readonly ratio: Spread
  to(name: string): number
}

const DUPLICATES = 99
const HOLD_MS = 400

export async function pileUpOn(held: readonly Held[], runs: number): Promise<readonly PiledUp[]> {
  const times = new Map<string, number[]>(held.map(({ name }) => [name, []]))
  for (let run = -1; run < runs; run++) {
    for (const one of shuffled(held)) {
      const ms = await pile(one)
      if (run >= 0) times.get(one.name)?.push(ms)
    }
  }
  const between = (name: string, base: string | undefined) => {
    const bases = times.get(base ?? '') ?? []
    return spread((times.get(name) ?? []).map((ms, run) => ms / (bases[run] ?? Number.NaN)))
  }
  return held.map(({ name }) => ({
    name,
    ms: quantile(times.get(name) ?? [], 0.5),
    ratio: between(name, held[0]?.name),
    to: (base) => between(name, base).median,
  }))
}

async function pile({ hold, duplicate }: Held): Promise<number> {
  const key = randomUUID()
  let taken: () => void = () => {}
  const holding = new Promise<void>((resolve) => {
    taken = resolve
  })
  let allBack: () => void = () => {}
  const back = new Promise<void>((resolve) => {
    allBack = resolve
  })
  // On a busy machine the last duplicate is back later than that.
  const held = hold(key, taken, Promise.all([sleep(HOLD_MS), back]))
  await Promise.race([holding, held])
  // What the holder sent is on its way out before the duplicates are.
  await sleep(20)
  const started = performance.now()
  await Promise.all(Array.from({ length: DUPLICATES }, () => duplicate(key))).finally(allBack)
  const ms = performance.now() - started
  await held
  return ms
}
