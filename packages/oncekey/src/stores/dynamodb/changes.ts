/** What each step of the protocol's table makes of a record. */
import { writeLabel } from '../../core/label.ts'
import type { Label } from '../../core/operation.ts'
import type { Held, Kept, Owned } from '../../core/store.ts'
import { tombstoneOf, writeKept } from '../kept.ts'
import { STATE } from '../row.ts'
import type { Attributes } from './client.ts'
import { type Change, number, text } from './expressions.ts'
import { type Instant, isOver, type Stored } from './item.ts'

/** DynamoDB's limit for an item, in bytes. */
const MAX_ITEM = 409_600
/** All that stands in an item besides its body: names, ids, numbers. */
const BESIDES = 512
/** What a tombstone's label (a status, a `Location`) may take of a full item; a larger one is left out. */
const TOMBSTONE = 7_680
export const MAX_RECEIPT = MAX_ITEM - BESIDES - TOMBSTONE

/** The item of a claim that wins over nothing, or over the record that stood there. */
export function claimed(wanted: Owned, instant: Instant, before?: Stored): { item: Attributes; fence: bigint } {
  const { id, token, prints, policy } = wanted
  const { now } = instant
  const earlier = before && !isOver(before, instant) ? before : undefined
  const fence = greatest((before?.fence ?? 0n) + 1n, microseconds(now))
  // Counted from the first claim, whoever goes on with it (L5).
  const dedupesUntil =
    earlier?.dedupesUntil ?? (policy.dedupesForMs === undefined ? undefined : now + policy.dedupesForMs)
  const item = {
    k: text(id),
    t: text(token),
    n: number(fence),
    f: text(earlier?.print ?? prints[0]),
    r: number(policy.retainMs),
    ...(dedupesUntil === undefined ? {} : { d: number(dedupesUntil) }),
    ...running(wanted, now),
  }
  return { item, fence }
}

/** Runs on, also from open and unknown, where a late beat finds its claim again. */
export function renewed(held: Owned, now: number): Change {
  return { set: running(held, now), remove: ['e', 'ttl'] }
}

function running({ policy, label }: Owned, now: number): Attributes {
  return {
    s: number(policy.onAbandoned === 'takeover' ? STATE.takeover : STATE.hold),
    l: number(now + policy.leaseMs),
    b: bytes(writeLabel(label)),
  }
}

/** The token stays, so that the lost reply of this very write can be recognised; the fence does not (S3). */
export function finished({ policy, label }: Held, kept: Kept, { now, skewMs }: Instant): Change {
  const { retainMs, tombstoneMs = 0 } = policy
  const answers = 'receipt' in kept
  const lastEnd = now + retainMs + tombstoneMs
  // Where there is no answer to outlive, the key is bound for as long as if there were one.
  const ends = answers ? now + retainMs : lastEnd
  const body = answers ? bodyOf(kept, lastEnd > ends) : labelled(label, kept.spent, kept.head)
  return {
    set: {
      s: number(answers ? STATE.finished : STATE.spent),
      e: number(ends),
      ttl: timeToLive(lastEnd, skewMs),
      ...(lastEnd > ends ? { x: number(lastEnd) } : {}),
      ...(body.length > 0 ? { b: bytes(body) } : {}),
    },
    remove: ['n', 'l', 'd', 'r', 'x', 'b'],
  }
}

function bodyOf(kept: Extract<Kept, { receipt: unknown }>, tombstone: boolean): Uint8Array {
  const body = writeKept(kept, tombstone)
  return body.length <= MAX_ITEM - BESIDES ? body : writeKept({ receipt: kept.receipt }, tombstone)
}

/** Running and unknown become open when the next attempt may run; never for a shorter time than the downstream dedupes. */
export function opened(retainMs: number, dedupesUntil: number | undefined, { now, skewMs }: Instant): Change {
  const ends = Math.max(now + retainMs, dedupesUntil ?? 0)
  return { set: { s: number(STATE.open), e: number(ends), ttl: timeToLive(ends, skewMs) }, remove: ['l'] }
}

export function unknown(label: Partial<Label>, why: string): Change {
  return { set: { s: number(STATE.unknown), b: bytes(labelled(label, why)) }, remove: ['l', 'e', 'ttl'] }
}

/** Somebody who knows how it ended wrote its answer down; it is nobody's claim any more. */
export function settled(body: Uint8Array, retainMs: number, { now, skewMs }: Instant): Change {
  const ends = now + retainMs
  return {
    set: {
      s: number(STATE.finished),
      e: number(ends),
      ttl: timeToLive(ends, skewMs),
      ...(body.length > 0 ? { b: bytes(body) } : {}),
    },
    remove: ['t', 'n', 'l', 'd', 'r', 'b'],
  }
}

/** S3: the record stays for its fence, and is over for everybody, whatever their clocks say. */
export function over({ now, skewMs }: Instant, fence: bigint | undefined): Change {
  return {
    set: {
      s: number(STATE.open),
      e: number(0),
      n: number(fence ?? microseconds(now)),
      ttl: timeToLive(now, skewMs),
    },
    remove: ['l', 'd', 'x', 'b'],
  }
}

/** The answer's retention is over: what its tombstone says takes its place. */
export function expired({ tombstoneEnds = 0 }: Stored, tombstone: Uint8Array, { skewMs }: Instant): Change {
  return {
    set: {
      s: number(STATE.spent),
      e: number(tombstoneEnds),
      ttl: timeToLive(tombstoneEnds, skewMs),
      b: bytes(tombstone.length > 0 ? tombstone : tombstoneOf()),
    },
    remove: ['x'],
  }
}

/** Somebody took the answer out: its key stays bound until the later of its ends. */
export function erased({ ends = 0, tombstoneEnds = ends }: Stored, { skewMs }: Instant): Change {
  return {
    set: {
      s: number(STATE.spent),
      e: number(tombstoneEnds),
      ttl: timeToLive(tombstoneEnds, skewMs),
      b: bytes(writeLabel({ why: 'erased' })),
    },
    remove: ['x'],
  }
}

/** Its clock is past the fence, and so is everybody's: a claim after the deletion gets a greater one (S3). */
export function mayDelete(fence: bigint | undefined, { now, skewMs }: Instant): boolean {
  return fence === undefined || microseconds(now - skewMs) > fence
}

function labelled({ scope, key, name }: Partial<Label>, why: string, head?: Uint8Array): Uint8Array {
  return writeLabel({
    ...(scope === undefined ? {} : { scope }),
    ...(key === undefined ? {} : { key }),
    ...(name === undefined ? {} : { name }),
    why,
    ...(head ? { head } : {}),
  })
}

/** DynamoDB deletes past this second, by its own clock, and in its own time. */
function timeToLive(lastEnd: number, skewMs: number) {
  return number(Math.ceil((lastEnd + skewMs) / 1_000) + 1)
}

function bytes(value: Uint8Array) {
  return { B: value.slice() }
}

function microseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000))
}

function greatest(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
