// What a store has to bring along for races, crashes and outages over HTTP: how a process opens it, and how its charges are counted.
import type { Grant, Store } from 'oncekey'

export type Mode = 'transaction' | 'lease'
export type Insert = () => unknown
/** Tells `starts` that the work has begun, outside of its transaction, and gives what makes the charge. */
export type Charge<G> = (grant: G, amount: number) => Promise<Insert>
export type Serve = <G extends Grant>(store: Store<G>, charge: Charge<G>) => Promise<void>
export type Env = Readonly<Record<string, string | undefined>>

/** In the server's process: opens the store that its environment names, and serves charges with it. */
export type Open = (serve: Serve, env: Env) => Promise<void>

/** In the test's process: a database of its own for one test. */
export interface Ground {
  readonly env: Readonly<Record<string, string>>
  charges(): Promise<number>
  /** How often the work began, told outside of its transaction. */
  starts(): Promise<number>
}

/** `inside`: the charge commits with its receipt. `outside`: it is made at once, by something that dedupes on the child key. */
export type Effect = 'inside' | 'outside'

export interface Arena {
  readonly name: string
  readonly mode: Mode
  readonly effect: Effect
  /** How much longer than the lease a taker waits, where clocks are compared. */
  readonly slackMs?: number
  ground(): Promise<Ground>
}

/** A name that nothing else in the server has. */
export function unused(): string {
  return `t_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`
}
