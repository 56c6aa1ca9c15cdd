/** A row of the record table as every SQL store reads it, and what it means. */
import { tell } from '../core/events.ts'
import { readLabel } from '../core/label.ts'
import type { FinishedRecord, KeyRecord, Seen, SeenRecord } from '../core/record.ts'

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
 * Columns as the dialects select them; every comparison with the time is made by the database's clock, in the same
 * statement. While running, `expires_at` holds until when the downstream deduplicates; while open, `lease_end` does.
 */
export interface RecordRow {
  /** 32 hex digits, with or without dashes, or 16 bytes. */
  readonly k: string | Uint8Array
  readonly fingerprint: string | Uint8Array
  readonly state: number | bigint
  readonly token: string | Uint8Array | null
  readonly fence: string | number | bigint | null
  readonly body: Uint8Array | ArrayBuffer | null
  /** Milliseconds since 1970, or null. */
  readonly expires_ms: string | number | bigint | null
  readonly lease_end_ms: string | number | bigint | null
  readonly over: boolean | number | bigint
  readonly dedupes_over: boolean | number | bigint | null
  readonly lease_left_ms: string | number | bigint | null
  readonly age_ms: string | number | bigint | null
}

export function seenFrom(row: RecordRow | undefined): Seen {
  if (row === undefined) return { kind: 'absent' }
  const state = Number(row.state)
  const running = state === STATE.takeover || state === STATE.hold
  return {
    kind: 'record',
    record: recordFrom(row),
    print: digits(row.fingerprint),
    over: Boolean(row.over),
    ...(row.token === null ? {} : { token: digits(row.token) }),
    ...(running ? { leaseLeftMs: Number(row.lease_left_ms), ageMs: Math.max(0, Number(row.age_ms)) } : {}),
    ...(running ? { onAbandoned: state === STATE.takeover ? ('takeover' as const) : ('hold' as const) } : {}),
    dedupesOver: Boolean(row.dedupes_over),
  } satisfies SeenRecord
}

export function recordFrom(row: RecordRow): KeyRecord | FinishedRecord {
  const id = digits(row.k)
  const fence = row.fence === null ? {} : { fence: BigInt(row.fence) }
  const expiresAt = row.expires_ms === null ? {} : { expiresAt: new Date(Number(row.expires_ms)) }
  const bytes = row.body === null ? null : new Uint8Array(row.body)
  switch (Number(row.state)) {
    case STATE.takeover:
    case STATE.hold: {
      const leaseEndsAt = row.lease_end_ms === null ? {} : { leaseEndsAt: new Date(Number(row.lease_end_ms)) }
      return { id, ...readLabel(bytes), state: 'running', ...fence, ...leaseEndsAt }
    }
    case STATE.open:
      return { id, ...readLabel(bytes), state: 'open', ...fence, ...expiresAt }
    case STATE.finished:
      return { id, state: 'finished', ...expiresAt, ...(bytes ? { receipt: bytes } : {}) } satisfies FinishedRecord
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

/** 32 hex digits. */
export function digits(value: string | Uint8Array): string {
  return typeof value === 'string' ? value.replaceAll('-', '') : Buffer.from(value).toString('hex')
}
