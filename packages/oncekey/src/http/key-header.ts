/** The key as it stands on the wire: the draft's quoted string and Stripe's bare form are one key, everything else is refused. */
import { parseItem } from 'structured-headers'
import { MAX_PART_LENGTH } from '../core/operation.ts'

/** Where the field was read. Only the first two show whether it was sent more than once. */
export type KeySource =
  /** Names and values in turn, as Node's `rawHeaders` has them; trailers are not among them. */
  | { readonly kind: 'raw'; readonly rawHeaders: readonly string[] }
  /** The field's lines alone. */
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  /** One value that may have been joined from several lines with a comma (`Headers.get`, Node's `headers`). */
  | { readonly kind: 'joined'; readonly value: string | null | undefined }
  /** No header: a body field (Square), a GraphQL input, a query parameter (AWS). The text is the key, as it stands. */
  | { readonly kind: 'value'; readonly value: unknown }

export type KeyFault =
  | 'empty'
  | 'blank'
  | 'too-long'
  | 'malformed'
  | 'trailing'
  | 'not-a-string'
  | 'bare-illegal-char'
  | 'multiple-lines'
  /** It is a key, and not of the form that this API publishes (`format`). */
  | 'format'

export type ReadKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'invalid'; readonly reason: KeyFault; readonly maxLength: number }

export interface KeyOptions {
  /** Default `Idempotency-Key`. */
  readonly header?: string
  /** `tolerant` (default) also takes the bare form that predates the draft; `strict` only RFC 9651 Strings. */
  readonly syntax?: 'tolerant' | 'strict'
  /** Characters of the key itself, without quotes and escapes. Default and most: 255. */
  readonly maxLength?: number
  /** The form this API publishes, tested on the key itself: UUIDs only, a least length, no `undefined`. */
  readonly format?: RegExp
}

export const KEY_HEADER = 'Idempotency-Key'

/**
 * Absent, a key, or why it is none. Never throws, and reads nothing but the field: it is judged before a byte of the
 * body. Keys are compared byte for byte, so nothing is folded, trimmed inside quotes, normalised or percent-decoded.
 */
export function readKey(source: KeySource, options: KeyOptions = {}): ReadKey {
  const { header = KEY_HEADER, syntax = 'tolerant', format } = options
  const maxLength = Math.min(options.maxLength ?? MAX_PART_LENGTH, MAX_PART_LENGTH)
  const lines = linesOf(source, header)
  const [line] = lines
  if (line === undefined || line === null) return { kind: 'absent' }
  const read =
    lines.length > 1 ? refused('multiple-lines') : source.kind === 'value' ? taken(line) : parse(line, syntax)
  const judged = 'reason' in read ? read : judge(read, { joined: source.kind === 'joined', maxLength, format })
  return 'reason' in judged ? { kind: 'invalid', maxLength, ...judged } : { kind: 'key', ...judged }
}

type Key = { readonly key: string; readonly quoted: boolean }
type Parsed = Key | { readonly reason: KeyFault }
type Judged = { readonly key: string } | { readonly reason: KeyFault }

function linesOf(source: KeySource, header: string): readonly unknown[] {
  switch (source.kind) {
    case 'raw': {
      const name = header.toLowerCase()
      const { rawHeaders } = source
      return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
    }
    case 'lines':
      return source.lines
    case 'joined':
    case 'value':
      return [source.value]
    default:
      throw source satisfies never
  }
}

// One whole RFC 9651 String, wherever it ends: tells rubbish behind a key from a key that is rubbish.
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/
// The characters of keys in use (UUID, ULID, nanoid, base64, `order-42:capture`), without those that begin another
// typed item of RFC 9651 (`:` bytes, `?` boolean, `@` date, `%` display string, `(` list) in first place.
const BARE = /^[A-Za-z0-9\-_+/.~*][A-Za-z0-9!#$%&'*+\-.^_`|~:/=@]*$/

/** A key of 255 characters takes at most 512 on the wire; the rest is for parameters, which nobody sends. */
const MOST_WIRE_LENGTH = 4_096

function parse(line: unknown, syntax: 'tolerant' | 'strict'): Parsed {
  if (typeof line !== 'string') return refused('not-a-string')
  if (line.length > MOST_WIRE_LENGTH) return refused('too-long')
  const value = withoutOuterSpace(line)
  if (value === '') return refused('empty')
  if (!value.startsWith('"')) {
    if (syntax === 'strict') return refused('not-a-string')
    return BARE.test(value) ? { key: value, quoted: false } : refused('bare-illegal-char')
  }
  try {
    const [key] = parseItem(value)
    return typeof key === 'string' ? { key, quoted: true } : refused('not-a-string')
  } catch {
    return refused(QUOTED.test(value) ? 'trailing' : 'malformed')
  }
}

function taken(value: unknown): Parsed {
  if (typeof value !== 'string') return refused('not-a-string')
  return value.isWellFormed() ? { key: value, quoted: false } : refused('malformed')
}

/** RFC 9110 §5.5: spaces and tabs around a field value are no part of it, whatever the server in front has left. */
function withoutOuterSpace(line: string): string {
  let start = 0
  let end = line.length
  while (line[start] === ' ' || line[start] === '\t') start++
  while (end > start && (line[end - 1] === ' ' || line[end - 1] === '\t')) end--
  return line.slice(start, end)
}

interface Judging {
  readonly joined: boolean
  readonly maxLength: number
  readonly format: RegExp | undefined
}

function judge({ key, quoted }: Key, { joined, maxLength, format }: Judging): Judged {
  if (key === '') return refused('empty')
  if (key.trim() === '') return refused('blank')
  if (key.length > maxLength) return refused('too-long')
  // Lines `"a` and `b"` join to the valid string `"a, b"`, a key that nobody sent.
  if (joined && quoted && key.includes(',')) return refused('multiple-lines')
  if (format && !matches(format, key)) return refused('format')
  return { key }
}

/** A sticky or global expression remembers where it stopped; a key must not depend on the one before. */
function matches(format: RegExp, key: string): boolean {
  format.lastIndex = 0
  return format.test(key)
}

function refused(reason: KeyFault): { readonly reason: KeyFault } {
  return { reason }
}
