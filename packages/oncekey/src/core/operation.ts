/** What a caller wants done once, judged here for every store and surface, and the identity that stores know it by. */
import { hex, lengthPrefixed, sha256 } from './digest.ts'
import { type ErrorCode, OncekeyError } from './errors.ts'

export interface Operation {
  /** Who the key belongs to: the stable subject or tenant, one text or up to 8 parts. Never the credential that proves it. */
  readonly scope: string | readonly string[]
  /** The caller's name for the operation, 1 to 255 characters, compared byte for byte. */
  readonly key: string
  /** Digests of what was asked. The first is what gets written; a record with any of them is the same request. */
  readonly fingerprints: readonly [string, ...string[]]
  /** What people call this kind of operation, in lists and events. */
  readonly name?: string
  /** The same execution (a durable runtime's id, say) may enter again and goes on instead of being told `busy`. */
  readonly execution?: string
}

/** An operation as stores know it. */
export interface Identity {
  /** 128 bits in hex; in front the key's own 48-bit time where it is a UUIDv7 or ULID, for locality in an index. */
  readonly id: string
  /** 128 bits in hex for each fingerprint, bound to this scope and key. */
  readonly prints: readonly [string, ...string[]]
  readonly label: Label
}

/** What people need to see of an operation that is not finished. */
export interface Label {
  readonly scope: readonly string[]
  readonly key: string
  readonly name?: string
}

export const MAX_PART_LENGTH = 255
export const MAX_SCOPE_PARTS = 8

/**
 * The identity of an operation: SHA-256 over length-prefixed scope parts and key, so that no two (scope, key) share a
 * record whatever separators they contain. Throws `INVALID_SCOPE`, `INVALID_KEY` or `INVALID_FINGERPRINT`.
 */
export function identify(operation: Operation): Identity {
  const { id, label } = identifyKey(operation)
  const fingerprints: readonly unknown[] = operation.fingerprints
  if (!Array.isArray(fingerprints) || fingerprints.length === 0)
    refuse('INVALID_FINGERPRINT', 'fingerprints', 'is not a list of one or more texts')
  const prints = fingerprints.map((fingerprint) => {
    if (typeof fingerprint !== 'string' || fingerprint === '')
      refuse('INVALID_FINGERPRINT', 'a fingerprint', 'is not a text')
    return hex(sha256(lengthPrefixed('oncekey/print/1', [...label.scope, label.key, fingerprint])).subarray(0, 16))
  })
  return {
    id,
    prints: prints as [string, ...string[]],
    label: operation.name === undefined ? label : { ...label, name: operation.name },
  }
}

/** The identity alone, for those who only look a record up. */
export function identifyKey(named: Pick<Operation, 'scope' | 'key'>): { readonly id: string; readonly label: Label } {
  const scope = typeof named.scope === 'string' ? [named.scope] : named.scope
  if (!Array.isArray(scope) || scope.length === 0) refuse('INVALID_SCOPE', 'the scope', 'is missing')
  if (scope.length > MAX_SCOPE_PARTS)
    refuse('INVALID_SCOPE', 'the scope', `has ${scope.length} parts, more than ${MAX_SCOPE_PARTS}`)
  for (const part of scope) judgePart('INVALID_SCOPE', 'a part of the scope', part)
  judgePart('INVALID_KEY', 'the key', named.key)
  const digest = hex(sha256(lengthPrefixed('oncekey/identity/1', [String(scope.length), ...scope, named.key])))
  return { id: `${timeOf(named.key) ?? ''}${digest}`.slice(0, 32), label: { scope, key: named.key } }
}

/** How the next system wants its key: its alphabet and its length. */
export interface ChildKeyForm {
  readonly as?: 'hex' | 'uuid'
  /** Characters, 16 to 64; only for hex. */
  readonly length?: number
}

/**
 * The key to hand to the next system for one step of this operation. It depends on the identity, the step and the
 * application's namespace, and on nothing that changes between attempts, hosts or releases.
 */
export function childKeyOf(id: string, step: string, namespace = '', form: ChildKeyForm = {}): string {
  const { as = 'hex', length = 32 } = form
  judgePart('INVALID_OPTION', 'the step', step)
  if (length < 16 || length > 64) refuse('INVALID_OPTION', 'the length of a child key', 'is not between 16 and 64')
  const digest = hex(sha256(lengthPrefixed('oncekey/child/1', [namespace, id, step])))
  if (as === 'hex') return digest.slice(0, length)
  // RFC 9562 §5.8: version 8 is for digests of one's own.
  return digest.slice(0, 32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5')
}

function judgePart(code: ErrorCode, what: string, part: unknown): asserts part is string {
  if (typeof part !== 'string') refuse(code, what, `is ${part === null ? 'null' : typeof part}, not a text`)
  if (part.trim() === '') refuse(code, what, 'is blank')
  if (part.length > MAX_PART_LENGTH) refuse(code, what, `has ${part.length} characters, more than ${MAX_PART_LENGTH}`)
  if (!part.isWellFormed()) refuse(code, what, 'is not well-formed Unicode (it has a lone surrogate)')
}

/** When a time-ordered key says that it was made, in milliseconds since 1970; its caller's clock is to be doubted. */
export function keyTime(key: string): number | undefined {
  const time = timeOf(key)
  return time === undefined ? undefined : Number.parseInt(time, 16)
}

/** The 48-bit time in front of a UUIDv7 or ULID, in hex. It is never trusted to permit anything. */
function timeOf(key: string): string | undefined {
  const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(key)
  if (uuid) return `${uuid[1]}${uuid[2]}`.toLowerCase()
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(key)) return undefined
  let time = 0
  for (const letter of key.slice(0, 10)) time = time * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter)
  return time.toString(16).padStart(12, '0')
}

function refuse(code: ErrorCode, what: string, fault: string): never {
  throw new OncekeyError(code, {
    what: `${what[0]?.toUpperCase()}${what.slice(1)} ${fault}.`,
    where: 'operation',
    why: 'Without a usable scope, key and fingerprint two operations could share one record, and one caller another’s answer.',
    fix: `Give a scope of 1 to ${MAX_SCOPE_PARTS} parts and a key, each 1 to ${MAX_PART_LENGTH} characters and not blank, and one fingerprint or more.`,
  })
}
