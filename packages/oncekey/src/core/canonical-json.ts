/** One text for every spelling of a JSON value, without losing a digit: what two requests are compared by. */
import { canonicalNumber } from './canonical-number.ts'
import { OncekeyError } from './errors.ts'
import { compilePointers, type Omitted } from './json-pointer.ts'

export interface CanonicalOptions {
  /** JSON Pointers (RFC 6901) of what is left out; never the whole value. */
  readonly omit?: readonly string[]
  /** Arrays and objects inside each other, at most. Default 512: deeper than people nest, far above what a stack holds. */
  readonly maxDepth?: number
}

export const MAX_DEPTH = 512

/**
 * Equal for two texts iff they are the same value: member order, white space and escapes do not matter; array order,
 * null or absent, string or number do; numbers compare by exact decimal value. The result is JSON itself.
 *
 * @throws `INVALID_JSON` for what is no JSON, no UTF-8, nested too deeply or names a member twice; `INVALID_OPTION` for
 * a pointer that is none or points at the whole.
 */
export function canonicalJson(text: string | Uint8Array, options: CanonicalOptions = {}): string {
  const { omit = [], maxDepth = MAX_DEPTH } = options
  const omitted = compilePointers(omit)
  const source = textOf(text)
  // The grammar is judged by JSON.parse; the scanner below may then take well-formed text for granted.
  try {
    JSON.parse(source)
  } catch (cause) {
    throw invalidJson('is not JSON', cause)
  }
  return new Scanner(source, maxDepth).whole(omitted)
}

function textOf(text: string | Uint8Array): string {
  // RFC 8259 §8.1: a parser may ignore a byte order mark, and body parsers do.
  if (typeof text === 'string') return text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(text)
  } catch (cause) {
    throw invalidJson('is not UTF-8', cause)
  }
}

class Scanner {
  readonly #text: string
  readonly #maxDepth: number
  #at = 0
  #depth = 0

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
  }

  whole(omitted: Omitted | undefined): string {
    this.#space()
    return this.#value(omitted)
  }

  #value(omitted: Omitted | undefined): string {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#nested(() => this.#object(omitted))
      case '[':
        return this.#nested(() => this.#array(omitted))
      case '"':
        return JSON.stringify(this.#string())
      case 't':
        return this.#word('true')
      case 'f':
        return this.#word('false')
      case 'n':
        return this.#word('null')
      default:
        return this.#number()
    }
  }

  #nested(read: () => string): string {
    this.#depth++
    if (this.#depth > this.#maxDepth) throw invalidJson(`is nested more than ${this.#maxDepth} levels deep`)
    this.#at++
    this.#space()
    const text = read()
    this.#at++
    this.#depth--
    return text
  }

  #object(omitted: Omitted | undefined): string {
    const members: [name: string, text: string][] = []
    const names = new Set<string>()
    while (this.#text[this.#at] !== '}') {
      const name = this.#string()
      if (names.has(name)) throw invalidJson('names a member twice')
      names.add(name)
      this.#space()
      this.#at++
      this.#space()
      const below = omitted?.get(name)
      const text = this.#value(below === 'all' ? undefined : below)
      if (below !== 'all') members.push([name, text])
      this.#separator()
    }
    return writeObject(members)
  }

  #array(omitted: Omitted | undefined): string {
    const items: string[] = []
    for (let index = 0; this.#text[this.#at] !== ']'; index++) {
      const below = omitted?.get(String(index))
      const text = this.#value(below === 'all' ? undefined : below)
      if (below !== 'all') items.push(text)
      this.#separator()
    }
    return `[${items.join(',')}]`
  }

  #separator(): void {
    this.#space()
    if (this.#text[this.#at] !== ',') return
    this.#at++
    this.#space()
  }

  #string(): string {
    const start = this.#at
    let end = this.#text.indexOf('"', start + 1)
    while (this.#escaped(end)) end = this.#text.indexOf('"', end + 1)
    this.#at = end + 1
    const inside = this.#text.slice(start + 1, end)
    return inside.includes('\\') ? (JSON.parse(`"${inside}"`) as string) : inside
  }

  /** An odd number of backslashes stands before it. */
  #escaped(at: number): boolean {
    let before = at
    while (this.#text[before - 1] === '\\') before--
    return (at - before) % 2 === 1
  }

  #word(word: 'true' | 'false' | 'null'): string {
    this.#at += word.length
    return word
  }

  #number(): string {
    const start = this.#at
    while (/[-+.\deE]/.test(this.#text[this.#at] ?? '')) this.#at++
    const number = canonicalNumber(this.#text.slice(start, this.#at))
    if (number === undefined) throw invalidJson('has a number with an absurd exponent')
    return number
  }

  #space(): void {
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? '')) this.#at++
  }
}

/** Members in the order of their names; the names are distinct. */
export function writeObject(members: readonly (readonly [name: string, text: string])[]): string {
  const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${sorted.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

export function invalidJson(fault: string, cause?: unknown): OncekeyError {
  return new OncekeyError('INVALID_JSON', {
    what: `The body ${fault}.`,
    where: 'canonicalJson',
    why: 'Two readers could take it for two different requests, so it cannot be compared with a repeat.',
    fix: 'Send one JSON value in UTF-8, with each member named once.',
    ...(cause === undefined ? {} : { cause }),
    details: { fault },
  })
}
