/** A record as an item of the table: short attribute names, since every byte of an item is paid for with every write. */
import { tell } from '../../core/events.ts'
import { readLabel } from '../../core/label.ts'
import type { FinishedRecord, KeyRecord, Seen } from '../../core/record.ts'
import { readKept, readTombstone } from '../kept.ts'
import { STATE } from '../row.ts'
import type { Attributes } from './client.ts'

/**
 * | attribute | type | |
 * | --- | --- | --- |
 * | `k` | S | the identity, 32 hex digits (an item is paid by the kilobyte: 16 bytes less would cost as much, and show as base64) |
 * | `s` | N | state, numbered as in every store |
 * | `f` | S | fingerprint |
 * | `t` | S | token; kept while finished too, so that the lost reply of a complete can be recognised |
 * | `n` | N | fence |
 * | `e` | N | end of a finished or open record; this and all ends in ms since 1970 |
 * | `x` | N | end of the tombstone, where one is to outlive the answer |
 * | `l` | N | end of the lease |
 * | `d` | N | until when the downstream dedupes |
 * | `r` | N | what its writer would retain it for, for a sweeper that ends it (S5) |
 * | `b` | B | receipt, or label |
 * | `ttl` | N | DynamoDB's own expiry, in s: only tidies up, and only what is past its last end |
 */
export interface Stored {
  readonly id: string
  readonly state: number
  readonly print: string
  readonly token?: string
  readonly fence?: bigint
  readonly ends?: number
  readonly tombstoneEnds?: number
  readonly leaseEnds?: number
  readonly dedupesUntil?: number
  readonly retainMs?: number
  readonly body?: Uint8Array
}

/** An instant, and how far the clocks of two callers may be apart. */
export interface Instant {
  readonly now: number
  readonly skewMs: number
}

export function storedFrom({ k, s, f, t, n, e, x, l, d, r, b }: Attributes): Stored {
  return {
    id: k?.S ?? '',
    state: Number(s?.N),
    print: f?.S ?? '',
    ...(t?.S === undefined ? {} : { token: t.S }),
    ...(n?.N === undefined ? {} : { fence: BigInt(n.N) }),
    ...(e?.N === undefined ? {} : { ends: Number(e.N) }),
    ...(x?.N === undefined ? {} : { tombstoneEnds: Number(x.N) }),
    ...(l?.N === undefined ? {} : { leaseEnds: Number(l.N) }),
    ...(d?.N === undefined ? {} : { dedupesUntil: Number(d.N) }),
    ...(r?.N === undefined ? {} : { retainMs: Number(r.N) }),
    ...(b?.B === undefined ? {} : { body: b.B }),
  }
}

/** Past an end that lets somebody act: only once it is past on every caller's clock (S4). */
export function isPast(end: number, { now, skewMs }: Instant): boolean {
  return now >= end + skewMs
}

export function isRunning({ state }: Pick<Stored, 'state'>): boolean {
  return state === STATE.takeover || state === STATE.hold
}

/** Finished or open, and past its last end: it IS absent. */
export function isOver({ state, ends, tombstoneEnds = ends }: Stored, instant: Instant): boolean {
  const mayEnd = state === STATE.finished || state === STATE.spent || state === STATE.open
  return mayEnd && tombstoneEnds !== undefined && isPast(tombstoneEnds, instant)
}

/** Its answer is past its retention, whether a tombstone stays or not. */
export function isExpired({ state, ends }: Stored, instant: Instant): boolean {
  return state === STATE.finished && ends !== undefined && isPast(ends, instant)
}

export function seenFrom(stored: Stored | undefined, instant: Instant): Seen {
  if (stored === undefined) return { kind: 'absent' }
  const { token, fence, leaseEnds, dedupesUntil } = stored
  const { now, skewMs } = instant
  const running = isRunning(stored)
  return {
    kind: 'record',
    record: recordFrom(stored, instant),
    print: stored.print,
    over: isOver(stored, instant),
    // Past this end nothing may be done any more: it is past as soon as it is on anybody's clock.
    dedupesOver: dedupesUntil !== undefined && now + skewMs >= dedupesUntil,
    ...(token === undefined ? {} : { token }),
    ...(running ? { onAbandoned: stored.state === STATE.takeover ? ('takeover' as const) : ('hold' as const) } : {}),
    ...(running && leaseEnds !== undefined ? { leaseLeftMs: leaseEnds + skewMs - now } : {}),
    ...(running && fence !== undefined ? { ageMs: Math.max(0, now - Number(fence / 1_000n)) } : {}),
  }
}

export function recordFrom(stored: Stored, instant: Instant): KeyRecord | FinishedRecord {
  const { id, state, body, leaseEnds, ends, tombstoneEnds } = stored
  const fence = stored.fence === undefined ? {} : { fence: stored.fence }
  const expiresAt = ends === undefined ? {} : { expiresAt: new Date(ends) }
  switch (state) {
    case STATE.takeover:
    case STATE.hold: {
      const leaseEndsAt = leaseEnds === undefined ? {} : { leaseEndsAt: new Date(leaseEnds) }
      return { id, ...readLabel(body), state: 'running', ...fence, ...leaseEndsAt }
    }
    case STATE.open:
      return { id, ...readLabel(body), state: 'open', ...fence, ...expiresAt }
    case STATE.finished: {
      // An empty receipt is no attribute at all.
      const { receipt, tombstone } = readKept(body ?? new Uint8Array())
      if (tombstoneEnds === undefined || !isExpired(stored, instant))
        return { id, state: 'finished', ...expiresAt, receipt } satisfies FinishedRecord
      const end = { expiresAt: new Date(tombstoneEnds) }
      return { id, state: 'finished', ...end, ...readTombstone(tombstone) } satisfies FinishedRecord
    }
    case STATE.spent:
      return { id, ...readLabel(body), state: 'finished', ...expiresAt } satisfies FinishedRecord
    case STATE.unknown:
      return { id, ...readLabel(body), state: 'unknown', ...fence }
    default:
      // S7: a state that this build does not know is never run and never busy.
      tell('unreadable', { store: 'dynamodb', id, why: `state ${state}` })
      return { id, state: 'finished', why: 'unknown-state' } satisfies FinishedRecord
  }
}
