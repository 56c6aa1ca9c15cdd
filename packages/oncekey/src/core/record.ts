/** What a store remembers of an operation, as it shows it, and the one function that says which answer a repeat gets. */

/** Opaque, versioned bytes; only codecs look inside. */
export type Receipt = Uint8Array

export interface KeyRecord {
  /** The identity, hex. */
  readonly id: string
  /** Only where the record still has them: a finished record keeps its answer instead. */
  readonly scope?: readonly string[]
  readonly key?: string
  readonly name?: string
  readonly state: 'running' | 'open' | 'finished' | 'unknown'
  /** Orders the claims of one key; finished records and records of transaction mode have none. */
  readonly fence?: bigint
  readonly leaseEndsAt?: Date
  readonly expiresAt?: Date
  /** Why the outcome is unknown, or why the answer was not kept. */
  readonly why?: string
}

export interface FinishedRecord extends KeyRecord {
  readonly state: 'finished'
  /** Absent: spent. The operation happened, its answer was not kept, or is gone (`why`: `expired`, `erased`). */
  readonly receipt?: Receipt
  /** What little was kept of a spent answer (status, `Location`), where its codec gave it. */
  readonly head?: Receipt
}

/** A record as its store's clock saw it: every comparison with the time was made by the store (S4). */
export interface SeenRecord {
  readonly kind: 'record'
  readonly record: KeyRecord | FinishedRecord
  readonly print: string
  readonly token?: string
  /** Finished or open, and past its end: it IS absent. */
  readonly over: boolean
  /** Running: what is left of the lease, 0 or less once it ran out. */
  readonly leaseLeftMs?: number
  /** Running: the store's clock less the fence (S8). */
  readonly ageMs?: number
  /** Running: what its own writer said should follow if the owner vanishes (S5). */
  readonly onAbandoned?: 'takeover' | 'hold'
  /** Open, or running with takeover: the downstream has forgotten our keys by now. */
  readonly dedupesOver?: boolean
}
export type Seen = { readonly kind: 'absent' } | SeenRecord

/** The answers a repeat can get. `afterWork`: it ran here too, and had lost its ownership by the end (L3). */
export type Refused = (
  | { readonly kind: 'finished'; readonly record: FinishedRecord }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'unknown'; readonly record: KeyRecord }
  | { readonly kind: 'busy'; readonly ageMs: number; readonly retryAfterMs: number }
) & { readonly afterWork?: true }

/** `runnable`: nobody stands in the way. `abandoned`: the record has to be written unknown, and is answered so. `own`: it is ours already (S2). */
export type Judged = Refused | { readonly kind: 'runnable' } | { readonly kind: 'abandoned' } | { readonly kind: 'own' }

/** S1: mismatch, then finished, then unknown, then busy; ends are judged first. Every path asks this function. */
export function judge(seen: Seen, prints: readonly string[], token?: string): Judged {
  if (seen.kind === 'absent' || seen.over) return { kind: 'runnable' }
  const { record } = seen
  if (!prints.includes(seen.print)) return { kind: 'mismatch' }
  if (record.state === 'finished') return { kind: 'finished', record: record as FinishedRecord }
  if (token !== undefined && seen.token === token) return { kind: 'own' }
  switch (record.state) {
    case 'unknown':
      return { kind: 'unknown', record }
    case 'open':
      return { kind: seen.dedupesOver ? 'abandoned' : 'runnable' }
    case 'running': {
      const { leaseLeftMs = 0, ageMs = 0 } = seen
      if (leaseLeftMs > 0) return { kind: 'busy', ageMs, retryAfterMs: Math.min(leaseLeftMs, ageMs) }
      return { kind: seen.onAbandoned === 'takeover' && !seen.dedupesOver ? 'runnable' : 'abandoned' }
    }
    default:
      throw record.state satisfies never
  }
}
