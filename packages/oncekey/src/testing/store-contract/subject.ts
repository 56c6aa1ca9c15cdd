/** What the store contract has to be given: a store, how its time passes, and what else can be done to it. */
import type { Duration } from '../../core/clock.ts'
import type { Operation } from '../../core/operation.ts'
import type { AfterFailure } from '../../core/policy.ts'
import type { Grant, Store } from '../../core/store.ts'

/** What a rule asks of the store that is made for it. */
export interface Settings extends AfterFailure {
  readonly retain?: Duration
  readonly work?: Duration
  readonly lease?: Duration
  readonly claimMs?: Duration
  readonly drain?: Duration
}

/** What can be shown on a store. Every rule that needs what is missing is skipped, and its line says so. */
export interface Capabilities {
  readonly mode: 'transaction' | 'lease'
  /** `moved`: `advance` makes the store's own time pass. `real`: rules use short durations and wait for them. */
  readonly clock: 'moved' | 'real'
  /** The store goes by the clock of this process, so that it cannot be shown to ignore it. */
  readonly callersClock?: boolean
  /** `another` opens a second store over the same records. */
  readonly several?: boolean
  /** `reopen` closes the store and opens it again over what was kept. */
  readonly reopen?: boolean
  /** `faults` loses requests and replies of single steps. */
  readonly faults?: boolean
  /** `effects` writes rows of the user's through the grant. */
  readonly effects?: boolean
  /** `damage` makes records that no build ever wrote. */
  readonly damage?: boolean
  /** `sever` ends every connection of the store. */
  readonly sever?: boolean
  /** False where records cannot be changed by hand: a server stands in for the real one that lacks what an audit takes. */
  readonly audited?: boolean
  /** `behind` reaches past a store in transaction mode. */
  readonly behind?: boolean
  /** The record's own row is the lock: nobody can write it while the work runs, so that no intruder can be shown. */
  readonly heldRow?: boolean
}

/** A store for one rule, and what can be done to it; thrown away afterwards. */
export interface Subject<G extends Grant = Grant> extends AsyncDisposable {
  readonly store: Store<G>
  advance?(ms: number): void | Promise<void>
  another?(settings: Settings): Store<G> | Promise<Store<G>>
  reopen?(): Store<G> | Promise<Store<G>>
  readonly faults?: Faults
  readonly effects?: Effects<G>
  damage?(id: string, how: 'unknown-state'): void | Promise<void>
  /** As a server that restarts, or a firewall that forgets: every connection that the store has ends. */
  sever?(): void | Promise<void>
  readonly behind?: Behind<G>
}
export type Make<G extends Grant = Grant> = (settings: Settings) => Subject<G> | Promise<Subject<G>>

export type Step = 'claim' | 'renew' | 'complete' | 'release' | 'hold' | 'read'
/**
 * `refuse`: the step is not applied, and fails. `lose`: it is applied, and its reply is lost. `hang`: it is neither
 * applied nor answered until `mend()`, and then both.
 */
export type Fault = 'refuse' | 'lose' | 'hang'
export interface Faults {
  /** Befalls the next `times` calls of the step. Default 1. */
  befall(step: Step, fault: Fault, times?: number): void
  /** Ends all faults; what hung goes on. */
  mend(): void
}

/** What others may do to an operation in transaction mode while its work runs. */
export interface Behind<G extends Grant> {
  /** Ends the work's transaction past the handle's guard, as a library of the user's own might. */
  end(grant: G, how: 'commit' | 'rollback'): Promise<void>
  /** Writes a live finished record of this operation without the store's locks, as another release might. */
  intrude(operation: Operation): Promise<void>
  /** The next COMMIT that carries a record is carried out and its answer lost, or never arrives. */
  befallCommit(fault: 'lose' | 'refuse'): void
}

/** Side effects in the user's own tables: written through the grant's transaction, counted outside of it. */
export interface Effects<G extends Grant> {
  write(grant: G, mark: string): Promise<void>
  count(mark: string): Promise<number>
}
