/** The canonical form of a value that a parser or a schema made: the same text as canonical JSON where JSON can say it. */
import { type CanonicalOptions, depthOf } from './canonical-json.ts'
import { canonicalNumber } from './canonical-number.ts'
import { hex, sha256 } from './digest.ts'
import { OncekeyError } from './errors.ts'
import { invalidJson } from './invalid-json.ts'
import { compilePointers, type Omitted } from './json-pointer.ts'
import { writeObject } from './json-scanner.ts'

/**
 * JSON's kinds as `canonicalJson` writes them, members that are `undefined` as absent, a bigint as the number it is.
 * What JSON has no kind for (dates, bytes, maps, sets, numbers that are none) is written as a kind of its own.
 *
 * @throws `UNENCODABLE` for what cannot be compared (functions, symbols, files, instances that show nothing of
 * themselves), `INVALID_JSON` where it is nested too deeply, `INVALID_OPTION` as `canonicalJson` does.
 */
export function canonicalValue(value: unknown, options: CanonicalOptions = {}): string {
  return write(value, { omitted: compilePointers(options.omit ?? []), left: depthOf(options) })
}

interface Place {
  readonly omitted: Omitted | undefined
  readonly left: number
}

function write(value: unknown, place: Place): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'boolean':
      return String(value)
    case 'bigint':
      return canonicalNumber(String(value)) ?? incomparable('an absurd number')
    case 'number':
      return Number.isFinite(value) ? (canonicalNumber(String(value)) as string) : `number(${value})`
    case 'undefined':
      return 'undefined'
    case 'object':
      return value === null ? 'null' : writeNested(value, place)
    case 'function':
    case 'symbol':
      return incomparable(`a ${typeof value}`)
    default:
      // typeof has no other answer; the compiler does not narrow unknown by it.
      return incomparable('something unheard of')
  }
}

function writeNested(value: object, place: Place): string {
  if (place.left === 0) throw invalidJson('is nested too deeply')
  if (Array.isArray(value)) return `[${entries(value.entries(), place).map(([, text]) => text)}]`
  if (value instanceof Date) return `date(${value.getTime()})`
  if (value instanceof ArrayBuffer) return `bytes(${hex(sha256(new Uint8Array(value)))})`
  if (ArrayBuffer.isView(value))
    return `bytes(${hex(sha256(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)))})`
  const below = { omitted: undefined, left: place.left - 1 }
  if (value instanceof Map) return `map(${[...value].map((entry) => write(entry, below))})`
  if (value instanceof Set) return `set(${[...value].map((item) => write(item, below))})`
  const toJson = (value as { toJSON?: unknown }).toJSON
  if (typeof toJson === 'function') return write(toJson.call(value), { ...place, left: place.left - 1 })
  const members = Object.entries(value)
  if (members.length === 0 && !isPlain(value)) incomparable('an instance that shows nothing of itself')
  const present = members.filter(([, member]) => member !== undefined)
  return writeObject(entries(present, place))
}

/** Without what is left out. */
function entries(all: Iterable<readonly [string | number, unknown]>, { omitted, left }: Place): [string, string][] {
  const kept: [string, string][] = []
  for (const [at, value] of all) {
    const below = omitted?.get(String(at))
    if (below !== 'all') kept.push([String(at), write(value, { omitted: below, left: left - 1 })])
  }
  return kept
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function incomparable(what: string): never {
  throw new OncekeyError('UNENCODABLE', {
    what: `The body, as it was parsed, holds ${what}.`,
    where: 'canonicalValue',
    why: 'Two different requests would look the same, and the second would get the answer of the first.',
    fix: 'Compare the bytes of the request, or give a value of plain data.',
  })
}
