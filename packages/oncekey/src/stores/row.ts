/** A row of the record table as every SQL store reads it, and what it means. */
import { tell } from '../core/events.ts'
import { readLabel } from '../core/label.ts'
import type { FinishedRecord, KeyRecord, Seen, SeenRecord } from '../core/record.ts'
import { readKept, readTombstone } from './kept.ts'

/** The numbers in the `state` column. A new state gets a new number; an old number never changes its meaning. */
export const STATE = {
  /** Running; past its lease the next caller takes over. */
  takeover: 1,
  /** Running; past its lease the outcome is unknown. */
  hold: 2,
  open: 3,
  finished: 4,
  spent: 5,
  unknown: 6,
} as const

/**
 * The columns as they stand, and the database's clock in the same statement: every comparison with the time is made
 * with that (S4). While running, `expires_at` holds until when the downstream deduplicates; while open, `lease_end`
 * does; of a finished record `expires_at` is its answer's end and `lease_end` its tombstone's, if it is to leave one.
 */
export interface RecordRow {
  /** 32 hex digits, with or without dashes, or 16 bytes. */
  readonly k: string | Uint8Array
  readonly fingerprint: string | Uint8Array
  readonly state: number | bigint | string
  readonly token: string | Uint8Array | null
  readonly fence: string | number | bigint | null
  readonly body: Uint8Array | ArrayBuffer | null
  /** Microseconds since 1970, or null. Whole numbers; they stay exact as doubles until the year 2255. */
  readonly expires_us: string | number | bigint | null
  readonly lease_end_us: string | number | bigint | null
  readonly now_us: string | number | bigint
}

export function seenFrom(row: RecordRow | undefined): Seen {
  if (row === undefined) return { kind: 'absent' }
  const state = Number(row.state)
  const { now, expires, leaseEnd } = instantsOf(row)
  const running = state === STATE.takeover || state === STATE.hold
  const dedupesUntil = state === STATE.open ? leaseEnd : expires
  return {
    kind: 'record',
    record: recordFrom(row),
    print: digits(row.fingerprint),
    over: isPast(endOf(row), now),
    ...(row.token === null ? {} : { token: digits(row.token) }),
    ...(running ? { leaseLeftMs: leaseEnd === undefined ? 0 : Math.ceil((leaseEnd - now) / 1_000) } : {}),
    ...(running ? { ageMs: ageOf(row.fence, now) } : {}),
    ...(running ? { onAbandoned: state === STATE.takeover ? ('takeover' as const) : ('hold' as const) } : {}),
    dedupesOver: (state === STATE.takeover || state === STATE.open) && isPast(dedupesUntil, now),
  } satisfies SeenRecord
}

/** The record, where there is one that is not past its end. */
export function standingFrom(row: RecordRow | undefined): KeyRecord | undefined {
  const seen = seenFrom(row)
  return seen.kind === 'absent' || seen.over ? undefined : seen.record
}

export function recordFrom(row: RecordRow): KeyRecord | FinishedRecord {
  const id = digits(row.k)
  const fence = row.fence === null ? {} : { fence: BigInt(row.fence) }
  const bytes = row.body === null ? undefined : new Uint8Array(row.body)
  const { leaseEnd, expires } = instantsOf(row)
  const expiresAt = expires === undefined ? {} : { expiresAt: dateOf(expires) }
  switch (Number(row.state)) {
    case STATE.takeover:
    case STATE.hold: {
      const leaseEndsAt = leaseEnd === undefined ? {} : { leaseEndsAt: dateOf(leaseEnd) }
      return { id, ...readLabel(bytes), state: 'running', ...fence, ...leaseEndsAt }
    }
    case STATE.open:
      return { id, ...readLabel(bytes), state: 'open', ...fence, ...expiresAt }
    case STATE.finished:
      return finishedFrom(row, id, bytes)
    case STATE.spent:
      return { id, ...readLabel(bytes), state: 'finished', ...expiresAt } satisfies FinishedRecord
    case STATE.unknown:
      return { id, ...readLabel(bytes), state: 'unknown', ...fence }
    default:
      // S7: a state that this build does not know is never run and never busy.
      tell('unreadable', { id, why: `state ${row.state}` })
      return { id, state: 'finished', why: 'unknown-state' } satisfies FinishedRecord
  }
}

/** The answer until its end; from then on its tombstone, if it left one, whether a sweeper was there or not. */
function finishedFrom(row: RecordRow, id: string, body: Uint8Array | undefined): FinishedRecord {
  const { now, expires, leaseEnd } = instantsOf(row)
  const kept = body && readKept(body)
  if (leaseEnd !== undefined && isPast(expires, now))
    return { id, ...readTombstone(kept?.tombstone), state: 'finished', expiresAt: dateOf(leaseEnd) }
  const expiresAt = expires === undefined ? {} : { expiresAt: dateOf(expires) }
  return { id, state: 'finished', ...expiresAt, ...(kept ? { receipt: kept.receipt } : {}) }
}

/** When the record is as good as gone; running and unknown ones never are. */
function endOf(row: RecordRow): number | undefined {
  const { expires, leaseEnd } = instantsOf(row)
  switch (Number(row.state)) {
    case STATE.finished:
      return leaseEnd ?? expires
    case STATE.open:
    case STATE.spent:
      return expires
    default:
      return undefined
  }
}

function instantsOf({ now_us, expires_us, lease_end_us }: RecordRow) {
  return {
    now: Number(now_us),
    expires: expires_us === null ? undefined : Number(expires_us),
    leaseEnd: lease_end_us === null ? undefined : Number(lease_end_us),
  }
}

/** An instant t is over when now >= t (S5). */
function isPast(end: number | undefined, now: number): boolean {
  return end !== undefined && now >= end
}

/** S8; transaction mode writes no fence. */
function ageOf(fence: RecordRow['fence'], now: number): number {
  return fence === null ? 0 : Math.max(0, Math.floor((now - Number(fence)) / 1_000))
}

function dateOf(us: number): Date {
  return new Date(Math.floor(us / 1_000))
}

/** 32 hex digits. */
export function digits(value: string | Uint8Array): string {
  return typeof value === 'string' ? value.replaceAll('-', '') : Buffer.from(value).toString('hex')
}
