/** The store contract: a bracket around the work, what it grants to the winner, and the lease port beneath it. */
import type { ChildKeyForm, Label, Operation } from './operation.ts'
import type { StorePolicy } from './policy.ts'
import type { KeyRecord, Receipt, Refused, Seen } from './record.ts'

/** What the winner holds while it runs. */
export interface Grant {
  readonly operation: Operation
  /** Aborts on lost ownership, when the work overran, when the transaction's connection died, and on shutdown. */
  readonly signal: AbortSignal
  /** The key to hand to the next system for this step: the same on every attempt of this operation. */
  childKey(step: string, form?: ChildKeyForm): string
}
/** SQL, transaction mode: the user's own transaction; the answer commits with it. */
export interface InTransaction<Tx> extends Grant {
  readonly tx: Tx
}
/** Redis, memory: a claim with a lease. */
export interface Leased extends Grant {
  readonly fence: bigint
}
/** Redis: a claim with a lease, in a store that may forget it. `Store<Leased & { mayForget?: never }>` refuses such a store. */
export interface Forgetful extends Leased {
  /** An asynchronous failover, an eviction, and a restart without persistence lose records; the work may run again. */
  readonly mayForget: 'failover, eviction, restart'
}
/** DynamoDB: a claim with a lease, and writes that are collected while the work runs and commit with its answer. */
export interface Collecting<Tx> extends Leased {
  readonly tx: Tx
}
/** SQL, lease mode: a claim with a lease, and a transaction on demand in which the answer commits too. */
export interface LeasedInDatabase<Tx> extends Leased {
  begin(): Promise<Tx>
}

/** Why an answer was not kept. */
export type SpentWhy = 'too-large' | 'stream' | 'unencodable' | 'not-kept'
/** Why an answer that was kept is there no longer, although its key is still bound: its retention is over, or somebody erased it. */
export type GoneWhy = 'expired' | 'erased'

/** What the store is to do when the work has ended. */
export type Verdict =
  /** `head` is what a tombstone remembers of the answer; only where the policy wants tombstones. */
  | { readonly kind: 'keep'; readonly receipt: Receipt; readonly writes: 'commit' | 'undo'; readonly head?: Receipt }
  | { readonly kind: 'spend'; readonly why: SpentWhy; readonly head?: Receipt }
  | { readonly kind: 'free' }
  | { readonly kind: 'retry'; readonly why: string }
  | { readonly kind: 'hold'; readonly why: string }

export type Fate = 'kept' | 'spent' | 'freed' | 'reopened' | 'held'
export type Attempted = { readonly kind: 'won'; readonly fate: Fate } | Refused

export interface How {
  readonly policy: StorePolicy
  /** The caller's own: it ends waiting, never work that has begun. */
  readonly signal?: AbortSignal
  /** The work may be run again from its start (`once` and plain functions; never middleware). */
  readonly repeatable: boolean
  /** The application's name in child keys. */
  readonly namespace?: string
}

/**
 * A store decides who runs, runs the work for the winner, does what its verdict says and remembers.
 * `attempt` rejects only with `STORE_UNAVAILABLE`, `TRY_AGAIN`, `COMMIT_UNKNOWN`, `OUTCOME_UNKNOWN`, a definite error
 * of the user's own transaction, or a usage error. Work handed to it never rejects; if it does: transaction mode
 * frees the key, lease mode holds it.
 */
export interface Store<G extends Grant = Grant> extends AsyncDisposable {
  readonly name: string
  readonly mode: 'transaction' | 'lease'
  readonly defaults: Partial<StorePolicy>
  /** The largest receipt it takes. */
  readonly maxBytes?: number
  /** The last restore that the store was told of (`admin.restored`); asked for before each attempt, so read once and remembered. */
  restored?(): Promise<Restored | undefined>
  attempt(operation: Operation, how: How, work: (grant: G) => Promise<Verdict>): Promise<Attempted>
  readonly admin: Admin
}

/** Who changed a record by hand, and why; kept in the audit table in the same transaction as the change. */
export interface Audit {
  readonly who: string
  readonly why: string
}
export interface SweepOptions {
  /** Records per statement, default 10,000. */
  readonly batch?: number
  /** Rest between batches, default 20 ms. */
  readonly pauseMs?: number
  /** About how many records to look at before this call ends; the next one goes on from there. Default: all of them. */
  readonly limit?: number
  readonly signal?: AbortSignal
}
export interface Swept {
  /** Finished and open records past their end. */
  readonly removed: number
  /** Answers past their retention of which a tombstone stays. */
  readonly expired: number
  /** Claims past their lease that became open or unknown. */
  readonly abandoned: number
  /** False where `limit` or `signal` ended it early; the next sweep, by whomever, goes on from there. */
  readonly complete: boolean
  /** Somebody else sweeps at this moment; nothing was done here. */
  readonly elsewhere?: true
}
/** The records came back from a backup, or from a replica that may have missed some. */
export interface Restored {
  readonly at: Date
  /** What becomes of an operation that the store does not know, until one retention after `at` has passed. */
  readonly onEpochChange: 'run' | 'refuse'
}
export interface Admin {
  migrate(): Promise<void>
  /**
   * Removes finished and open records past their end; running ones past their lease become open or unknown. Never more.
   * One at a time for each store, in bounded steps with rests between them: for a scheduler of any kind.
   */
  sweep(options?: SweepOptions): Promise<Swept>
  find(what: Pick<Operation, 'scope' | 'key'> | { readonly id: string }): Promise<KeyRecord | undefined>
  /** In the order of ids; `after` is the last id of the page before. Default limit 100. */
  list(filter?: {
    readonly state?: KeyRecord['state']
    readonly after?: string
    readonly limit?: number
  }): AsyncIterable<KeyRecord>
  /** Ends an unknown or open record, if it still is as `seen`. `done`, or the record as it is now. */
  settle(seen: KeyRecord, as: Settlement, audit: Audit): Promise<'done' | KeyRecord | undefined>
  /** Removes a record, if it still is as `seen`. Running and unknown ones only by force. */
  forget(seen: KeyRecord, audit: Audit & { readonly force?: boolean }): Promise<'done' | KeyRecord | undefined>
  /** Removes the kept answer of a finished record, if it still is as `seen`, and leaves its key bound: nothing runs again. */
  erase(seen: KeyRecord, audit: Audit): Promise<'done' | KeyRecord | undefined>
  /**
   * Says that the records were restored from a backup or that a replica was promoted: running and open ones become
   * unknown, and until one retention has passed, keys that are not there are answered with care. A new epoch: other
   * processes refuse to go on at their next sweep, and have to be started again.
   */
  restored(how: Audit & Pick<Restored, 'onEpochChange'>): Promise<{ readonly unknown: number }>
  /** Ends what `restored` began, before its time: what was lost is known and dealt with. */
  reconciled(audit: Audit): Promise<void>
  stats(): Promise<Readonly<Record<KeyRecord['state'], number>>>
}
export type Settlement =
  | { readonly kind: 'finished'; readonly receipt: Receipt }
  | { readonly kind: 'free' }
  | { readonly kind: 'retry' }

/** A claim as a lease store knows it. The token is 128 bits in hex and made before the first send (S2). */
export interface Owned {
  readonly id: string
  readonly token: string
  readonly prints: readonly [string, ...string[]]
  readonly policy: StorePolicy
  readonly label: Label
}
/** A claim that was won: every later write names its token and fence. */
export interface Held extends Owned {
  readonly fence: bigint
}
export type Kept =
  | { readonly receipt: Receipt; readonly head?: Receipt }
  | { readonly spent: SpentWhy; readonly head?: Receipt }

/** A transaction of the user's, opened late in lease mode, or the writes that are collected for it. */
export interface OpenedTransaction<Tx> {
  readonly tx: Tx
  /** Aborts when its connection dies. */
  readonly gone: AbortSignal
  /** Writes the receipt where the claim is still ours and commits; a lost claim fails inside the store, so that nothing commits. */
  complete(kept: Kept): Promise<'done' | Seen>
  rollback(): Promise<void>
  /** Nothing was written through it, so that the answer may be kept without it. */
  isEmpty?(): boolean
}

export interface ClaimWon {
  readonly kind: 'won'
  readonly fence: bigint
  /** A claim past its lease stood there. */
  readonly takenOver?: boolean
  /** Nothing of an earlier attempt stood there, so that a claim nobody waits for any more may be freed. */
  readonly fresh?: boolean
}
/**
 * The port of lease stores: each method is one atomic step of the table in docs/protocol, a compare-and-set on token
 * and fence. A refused step answers what stands there instead.
 */
export interface LeaseDriver<Tx = never> extends AsyncDisposable {
  readonly name: string
  readonly maxBytes?: number
  claim(wanted: Owned): Promise<ClaimWon | Seen>
  complete(mine: Held, kept: Kept): Promise<'done' | Seen>
  renew(mine: Held): Promise<'done' | Seen>
  release(mine: Held, to: 'free' | 'retry'): Promise<'done' | Seen>
  hold(mine: Held, why: string): Promise<'done' | Seen>
  read(id: string): Promise<Seen>
  begin?(mine: Held): Promise<OpenedTransaction<Tx>>
  /** Stores without open transactions: what the work writes is collected, and sent with the receipt. Sends nothing itself. */
  collect?(mine: Held): OpenedTransaction<Tx>
  readonly mayForget?: Forgetful['mayForget']
  restored?(): Promise<Restored | undefined>
  readonly admin: Admin
}
