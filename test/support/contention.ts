// Many callers on each of many keys, some with a changed body: nobody may start twice, and nobody may get a wrong answer.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Outcome, once } from '../../packages/oncekey/src/core/once.ts'
import type { Grant, Store } from '../../packages/oncekey/src/core/store.ts'

export interface Contention<G extends Grant> {
  /** In turn, one for each caller. */
  readonly stores: readonly Store<G>[]
  readonly keys: number
  readonly callers: number
  /** Of the callers of a key, how many send another body. */
  readonly changed: number
  readonly workMs?: number
  /** How many keys are contended at a time. */
  readonly at?: number
}
export interface Contended {
  readonly starts: number
  /** By what was sent in relation to what ran: the first body's callers, and the others. */
  readonly same: Readonly<Record<string, number>>
  readonly other: Readonly<Record<string, number>>
}

export async function contend<G extends Grant>(contention: Contention<G>): Promise<Contended> {
  const { stores, keys, callers, changed, workMs = 2, at = 8 } = contention
  const same: Record<string, number> = {}
  const other: Record<string, number> = {}
  const run = Math.random().toString(36).slice(2)
  let starts = 0
  let next = 0

  async function contendOne(key: string): Promise<void> {
    let ranWith: string | undefined
    async function call(caller: number): Promise<[string, Outcome<unknown>['kind']]> {
      await sleep(Math.random() * 3)
      const fingerprint = caller < changed ? 'changed' : 'body'
      const store = stores[caller % stores.length] as Store<G>
      const outcome = await once(store, { scope: 'contention', key, fingerprints: [fingerprint] }, async () => {
        starts += 1
        ranWith = fingerprint
        await sleep(workMs)
        return 1
      })
      return [fingerprint, outcome.kind]
    }
    const answers = await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
    for (const [fingerprint, kind] of answers) {
      const counted = fingerprint === ranWith ? same : other
      counted[kind] = (counted[kind] ?? 0) + 1
    }
  }
  async function worker(): Promise<void> {
    while (next < keys) {
      next += 1
      await contendOne(`${run}-${next}`)
    }
  }
  await Promise.all(Array.from({ length: at }, worker))
  return { starts, same, other }
}
