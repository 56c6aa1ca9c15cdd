/** A record's bytes in Redis, and what they mean at an instant of the server's clock; scripts/record.ts has the layout. */
import type { Buffer } from 'node:buffer'
import { tell } from '../../core/events.ts'
import { readLabel } from '../../core/label.ts'
import type { FinishedRecord, KeyRecord, Seen, SeenRecord } from '../../core/record.ts'
import { readKept, readTombstone } from '../kept.ts'
import { STATE } from './state.ts'

const NOBODY = '00'.repeat(16)

/** `us`: the server's clock, in microseconds since 1970. */
export function seenIn(id: string, bytes: Buffer, us: number): Seen {
  if (bytes.length === 0) return { kind: 'absent' }
  const now = Math.floor(us / 1_000)
  const token = bytes.toString('hex', 17, 33)
  const common = {
    kind: 'record',
    record: recordIn(id, bytes, now),
    print: bytes.toString('hex', 1, 17),
    over: isOver(bytes, now),
    ...(token === NOBODY || token === '' ? {} : { token }),
  } as const
  const state = bytes[0]
  if (state !== STATE.takeover && state !== STATE.hold && state !== STATE.open) return common
  if (bytes.length < FROM_LEASE_TO_WHY) return common
  const dedupesUntil = state === STATE.open ? leaseEnd(bytes) : end(bytes)
  const dedupesOver = dedupesUntil > 0 && now >= dedupesUntil
  if (state === STATE.open) return { ...common, dedupesOver } satisfies SeenRecord
  return {
    ...common,
    dedupesOver,
    leaseLeftMs: leaseEnd(bytes) - now,
    ageMs: Math.max(0, now - Math.floor(fenceOf(bytes) / 1_000)),
    onAbandoned: state === STATE.takeover ? 'takeover' : 'hold',
  } satisfies SeenRecord
}

/** `now`: milliseconds of the server's clock. Of a head alone what stands behind it is missing. */
export function recordIn(id: string, bytes: Buffer, now: number): KeyRecord | FinishedRecord {
  const state = bytes[0]
  if (bytes.length < MINIMUM) return unreadable(id, `${bytes.length} bytes`)
  switch (state) {
    case STATE.takeover:
    case STATE.hold:
      return { ...named(id, bytes), state: 'running', ...fenced(bytes), leaseEndsAt: new Date(leaseEnd(bytes)) }
    case STATE.open:
      return { ...named(id, bytes), state: 'open', ...fenced(bytes), expiresAt: new Date(end(bytes)) }
    case STATE.unknown:
      return { ...named(id, bytes), state: 'unknown', ...fenced(bytes) }
    case STATE.finished:
      return { id, state: 'finished', expiresAt: new Date(end(bytes)), receipt: readKept(plain(bytes, 39)).receipt }
    case STATE.tombstoned: {
      const { receipt, tombstone } = readKept(plain(bytes, 45))
      return now >= end(bytes)
        ? { id, state: 'finished', expiresAt: new Date(leaseEnd(bytes)), ...readTombstone(tombstone) }
        : { id, state: 'finished', expiresAt: new Date(end(bytes)), receipt }
    }
    case STATE.spent:
      return { id, ...readLabel(bytes.subarray(39)), state: 'finished', expiresAt: new Date(end(bytes)) }
    default:
      return unreadable(id, `state ${state}`)
  }
}

/** State, fingerprint, token and end: what every record has. */
const MINIMUM = 39
const FROM_LEASE_TO_WHY = 58

const end = (bytes: Buffer): number => bytes.readUIntBE(33, 6)
const leaseEnd = (bytes: Buffer): number => bytes.readUIntBE(39, 6)
/** Seven bytes, of which a double holds 53 bits: enough until the year 2255. */
const fenceOf = (bytes: Buffer): number => bytes.readUInt8(45) * 2 ** 48 + bytes.readUIntBE(46, 6)

/** A copy: the library's own bytes are a view of all that came with them. */
function plain(bytes: Buffer, from: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from))
}

function fenced(bytes: Buffer): { readonly fence?: bigint } {
  const fence = fenceOf(bytes)
  return fence === 0 ? {} : { fence: BigInt(fence) }
}

function isOver(bytes: Buffer, now: number): boolean {
  if (bytes.length < MINIMUM) return false
  switch (bytes[0]) {
    case STATE.open:
    case STATE.finished:
    case STATE.spent:
      return now >= end(bytes)
    case STATE.tombstoned:
      return now >= leaseEnd(bytes)
    default:
      return false
  }
}

/** What people need to see of a record that is not finished. */
function named(id: string, bytes: Buffer): Pick<KeyRecord, 'id' | 'scope' | 'key' | 'name' | 'why'> {
  const head = { id }
  if (bytes.length < FROM_LEASE_TO_WHY + 2) return head
  const from = FROM_LEASE_TO_WHY + 2
  const label = from + bytes.readUInt16BE(FROM_LEASE_TO_WHY)
  const why = bytes.toString('utf8', from, label)
  const { scope, key, name } = readLabel(bytes.subarray(label))
  return {
    ...head,
    ...(scope === undefined ? {} : { scope }),
    ...(key === undefined ? {} : { key }),
    ...(name === undefined ? {} : { name }),
    ...(why === '' ? {} : { why }),
  }
}

/** S7: what this build cannot read is never run and never busy. */
function unreadable(id: string, why: string): FinishedRecord {
  tell('unreadable', { id, why })
  return { id, state: 'finished', why: 'unknown-state' }
}
