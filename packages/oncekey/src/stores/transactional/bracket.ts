/** What every part of a transaction-mode attempt shares. */
import type { Identity, Operation } from '../../core/operation.ts'
import type { Refused } from '../../core/record.ts'
import type { How, InTransaction, Verdict } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { type Pulse, whenSilent } from '../pulse.ts'
import type { Holder } from './decide.ts'
import type { Dialect } from './dialect.ts'
import { unavailable } from './faults.ts'
import type { Handles } from './handles.ts'
import type { Permit, Permits } from './permits.ts'

export interface Bracket<Tx> {
  readonly database: Database<Tx>
  readonly dialect: Dialect
  /** The store's name, in events and errors. */
  readonly name: string
  readonly claimMs: number
  readonly pulse: Pulse
  readonly permits: Permits
  readonly handles: Handles
  /**
   * Whether the role of the opening is taken again before a record is written (T14). Joined it costs no flight and is
   * always done; where each statement is a flight, from the first time on that a work's role could not write.
   */
  restores: boolean
  /** Aborts when the deadline for draining is over. */
  readonly closing: AbortSignal
}

/** One attempt on its way through the bracket. */
export interface Turn<Tx> {
  readonly operation: Operation
  readonly identity: Identity
  readonly how: How
  readonly work: (grant: InTransaction<Tx>) => Promise<Verdict>
  /** What events say of it. */
  readonly facts: {
    readonly store: string
    readonly mode: 'transaction'
    readonly id: string
    readonly name?: string
  }
  holder: Holder
  permit: Permit | undefined
  /** How often the work has begun. */
  begun: number
}

/** `afterWork`: it ran here too, and what it did is undone or was not the first. */
export function ranHere(refused: Refused, { begun }: Pick<Turn<unknown>, 'begun'>): Refused {
  return begun === 0 ? refused : { ...refused, afterWork: true }
}

/**
 * Answers whatever the database does: when it has said nothing to anybody for `claimMs`, counted from asking the pool
 * (T13). `arrive` says if anybody still waits; a claim that comes too late is for nobody and has to be rolled back.
 */
export function inTime<R>(
  { claimMs, name, pulse }: Pick<Bracket<unknown>, 'claimMs' | 'name' | 'pulse'>,
  ask: (arrive: () => boolean) => Promise<R>,
): Promise<R> {
  return new Promise((resolve, reject) => {
    let late = false
    const callOff = whenSilent(pulse, claimMs, function giveUp() {
      late = true
      reject(unavailable(name, `The database did not answer in ${claimMs} ms.`))
    })
    function arrive(): boolean {
      callOff()
      pulse.beat()
      return !late
    }
    ask(arrive)
      .then((value) => {
        pulse.beat()
        return value
      })
      .finally(callOff)
      .then(resolve, reject)
  })
}
