/** One text for every spelling of a JSON value, without losing a digit: what two requests are compared by. */
import { OncekeyError } from './errors.ts'
import { invalidJson } from './invalid-json.ts'
import { compilePointers } from './json-pointer.ts'
import { scanJson } from './json-scanner.ts'

export interface CanonicalOptions {
  /** JSON Pointers (RFC 6901) of what is left out; never the whole value. */
  readonly omit?: readonly string[]
  /** Arrays and objects inside each other, at most. Default 512, at most 1,000. */
  readonly maxDepth?: number
}

/** Deeper than people nest. */
const DEFAULT_DEPTH = 512
/** Far below what a stack of the usual size holds, also when the caller stands deep in it already. */
const MOST_DEPTH = 1_000

/**
 * Equal for two texts iff they are the same value: member order, white space and escapes do not matter; array order,
 * null or absent, string or number do; numbers compare by exact decimal value. The result is JSON itself.
 *
 * @throws `INVALID_JSON` for what is no JSON, no UTF-8, nested too deeply or names a member twice; `INVALID_OPTION` for
 * a pointer that is none or points at the whole.
 */
export function canonicalJson(text: string | Uint8Array, options: CanonicalOptions = {}): string {
  const omitted = compilePointers(options.omit ?? [])
  const maxDepth = depthOf(options)
  const source = typeof text === 'string' ? text.replace(/^\uFEFF/, '') : decode(text)
  try {
    JSON.parse(source)
  } catch {
    // Not as the cause: V8 quotes the text in its message, and an error carries no body.
    throw invalidJson('is not JSON')
  }
  return scanJson(source, maxDepth, omitted)
}

/** Without a byte order mark, which a parser may ignore (RFC 8259 §8.1), and body parsers do. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw invalidJson('is not UTF-8', cause)
  }
}

/** Throws `INVALID_OPTION` where the stack would be the limit instead. */
export function depthOf({ maxDepth = DEFAULT_DEPTH }: CanonicalOptions): number {
  if (Number.isInteger(maxDepth) && maxDepth >= 1 && maxDepth <= MOST_DEPTH) return maxDepth
  throw new OncekeyError('INVALID_OPTION', {
    what: `maxDepth is ${maxDepth}.`,
    where: 'maxDepth',
    why: 'A body nested deeper than the stack would end the request with an error that says nothing.',
    fix: `Give a whole number from 1 to ${MOST_DEPTH}; ${DEFAULT_DEPTH} is the default.`,
  })
}
