/** The envelope around every kept answer, and the codec for plain values. */
import { parse, stringify } from 'devalue'
import { OncekeyError } from './errors.ts'
import type { Label } from './operation.ts'
import type { Receipt } from './record.ts'
import type { SpentWhy } from './store.ts'

export interface Codec<T> {
  /** Why a value is not kept, where that is known without encoding it: its body is a stream, say. */
  refuses?(value: T): SpentWhy | undefined
  encode(value: T, operation: Label): Receipt | Promise<Receipt>
  decode(receipt: Receipt, operation: Label): T | Promise<T>
  /** What little is kept of a value that is too large or cannot be encoded: a status, a `Location`. */
  head?(value: T): Receipt | undefined
}

/** A codec that asks nothing of the operation. */
export interface PlainCodec<T> extends Codec<T> {
  encode(value: T): Receipt | Promise<Receipt>
  decode(receipt: Receipt): T | Promise<T>
}

/** What stands behind the envelope. A new format gets a new number; an old number never changes its meaning. */
export const FORMATS = { value: 1, answer: 2, sealed: 3 } as const
export type Format = keyof typeof FORMATS

/** High bit of the first byte: the content is deflated. */
const DEFLATED = 0x80
/** Below this a deflated body does not get smaller (57 bytes: never; 266 bytes: by half). */
const DEFLATE_FROM = 200

type Zlib = { deflateRawSync(bytes: Uint8Array): Uint8Array; inflateRawSync(bytes: Uint8Array): Uint8Array }
type Builtins = { getBuiltinModule?: (name: string) => unknown }
const zlib = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.('node:zlib') as Zlib | undefined

/** One byte in front says format and whether the rest is deflated, which happens where it saves bytes. */
export function pack(format: Format, content: Uint8Array): Receipt {
  const deflated = zlib && content.length >= DEFLATE_FROM ? zlib.deflateRawSync(content) : undefined
  const smaller = deflated !== undefined && deflated.length < content.length
  const body = smaller ? deflated : content
  const receipt = new Uint8Array(1 + body.length)
  receipt[0] = FORMATS[format] | (smaller ? DEFLATED : 0)
  receipt.set(body, 1)
  return receipt
}

/** Throws `RECEIPT_UNREADABLE` for another format, an unknown version or damaged bytes. */
export function unpack(format: Format, receipt: Receipt): Uint8Array {
  const [first] = receipt
  if (first === undefined || (first & ~DEFLATED) !== FORMATS[format])
    throw unreadable(`its first byte is ${first ?? 'missing'}`)
  const body = receipt.subarray(1)
  if ((first & DEFLATED) === 0) return body
  if (!zlib) throw unreadable('it is deflated and there is no zlib here')
  try {
    return zlib.inflateRawSync(body)
  } catch (cause) {
    throw unreadable('its bytes are damaged', cause)
  }
}

/**
 * Values as `devalue` writes them: JSON's kinds and undefined, bigint, Date, Map, Set, RegExp, URL, typed arrays and
 * cycles come back as what they were. Functions, symbols and instances of classes throw `UNENCODABLE`.
 */
export function valueCodec<T>(): PlainCodec<T> {
  return {
    encode(value) {
      try {
        return pack('value', new TextEncoder().encode(stringify(value)))
      } catch (cause) {
        throw new OncekeyError('UNENCODABLE', {
          what: 'The value that the work returned cannot be kept.',
          where: 'valueCodec',
          why: 'The operation stays spent: it is never run again, and repeats are told that its answer was not kept.',
          fix: 'Return plain data, or give `once` a codec of your own.',
          cause,
        })
      }
    },
    decode(receipt) {
      const text = new TextDecoder().decode(unpack('value', receipt))
      try {
        return parse(text) as T
      } catch (cause) {
        throw unreadable('it is not a value as this build writes them', cause)
      }
    },
  }
}

export function unreadable(fault: string, cause?: unknown): OncekeyError {
  return new OncekeyError('RECEIPT_UNREADABLE', {
    what: `A kept answer cannot be read: ${fault}.`,
    where: 'receipt',
    why: 'The operation happened; running it again because its answer is unreadable would do it twice.',
    fix: 'Use the release (or the codec and its keys) that wrote it; repeats are answered `replay-unavailable` until then.',
    cause,
  })
}
