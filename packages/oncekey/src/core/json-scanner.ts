/** Reads valid JSON into its canonical text, digit by digit: nothing on the way is turned into a number. */
import { canonicalNumber } from './canonical-number.ts'
import { invalidJson } from './invalid-json.ts'
import type { Omitted } from './json-pointer.ts'

/** Takes well-formed text for granted: `JSON.parse` judges it first. Throws `INVALID_JSON` for what that lets through. */
export function scanJson(text: string, maxDepth: number, omitted: Omitted | undefined): string {
  const scanner = new JsonScanner(text, maxDepth)
  scanner.space()
  return scanner.value(omitted, 1)
}

/** Members in the order of their names, which are distinct. Any name is safe: none becomes a property. */
export function writeObject(members: (readonly [name: string, text: string])[]): string {
  members.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

const [TAB, LINE_FEED, RETURN, SPACE, COMMA, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2c, 0x5c]
const NUMBER = /[-+.\deE]+/y

class JsonScanner {
  readonly #text: string
  readonly #maxDepth: number
  #at = 0

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
  }

  value(omitted: Omitted | undefined, depth: number): string {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(omitted, depth)
      case '[':
        return this.#array(omitted, depth)
      case '"':
        // Lone surrogates come out as escapes, so that the canonical text can be encoded without loss.
        return JSON.stringify(this.#string())
      case 't':
        return this.#skip('true')
      case 'f':
        return this.#skip('false')
      case 'n':
        return this.#skip('null')
      default:
        return this.#number()
    }
  }

  #object(omitted: Omitted | undefined, depth: number): string {
    this.#enter(depth)
    const members: [name: string, text: string][] = []
    const names = new Set<string>()
    while (this.#text[this.#at] !== '}') {
      const name = this.#string()
      if (names.has(name)) throw invalidJson('names a member twice')
      names.add(name)
      this.space()
      this.#at++
      this.space()
      const below = omitted?.get(name)
      const text = this.value(below === 'all' ? undefined : below, depth + 1)
      if (below !== 'all') members.push([name, text])
      this.#separator()
    }
    this.#at++
    return writeObject(members)
  }

  #array(omitted: Omitted | undefined, depth: number): string {
    this.#enter(depth)
    const items: string[] = []
    for (let index = 0; this.#text[this.#at] !== ']'; index++) {
      const below = omitted?.get(String(index))
      const text = this.value(below === 'all' ? undefined : below, depth + 1)
      if (below !== 'all') items.push(text)
      this.#separator()
    }
    this.#at++
    return `[${items.join(',')}]`
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) throw invalidJson(`is nested more than ${this.#maxDepth} levels deep`)
    this.#at++
    this.space()
  }

  #separator(): void {
    this.space()
    if (this.#text.charCodeAt(this.#at) !== COMMA) return
    this.#at++
    this.space()
  }

  /** Resolved: two spellings of a name are one name. */
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
    while (this.#text.charCodeAt(before - 1) === BACKSLASH) before--
    return (at - before) % 2 === 1
  }

  #skip(word: 'true' | 'false' | 'null'): string {
    this.#at += word.length
    return word
  }

  #number(): string {
    NUMBER.lastIndex = this.#at
    const text = NUMBER.exec(this.#text)?.[0] ?? ''
    this.#at += text.length
    const number = canonicalNumber(text)
    if (number === undefined) throw invalidJson('has a number with an absurd exponent')
    return number
  }

  space(): void {
    for (; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return
    }
  }
}
