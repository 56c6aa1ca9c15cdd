/** An HTTP answer as it is kept: status, the headers that belong to the result, and the bytes, in as few bytes as that takes. */
import { OncekeyError } from '../core/errors.ts'
import { type PlainCodec, pack, unpack, unreadable } from '../core/receipt.ts'
import { LINES, NAMES } from './answer-dictionary.ts'
import { decodedAnswer } from './content-coding.ts'
import { type HeaderLine, headersToKeep } from './kept-headers.ts'

export interface Answer {
  readonly status: number
  /** One entry per line, in order; several lines may share a name. */
  readonly headers: readonly HeaderLine[]
  /** `null`: an answer without a body (204, 304, to HEAD), which is not the same as one of no bytes. */
  readonly body: Uint8Array | null
}

export interface AnswerCodecOptions {
  /** Names of headers to keep besides the usual ones. */
  readonly keep?: readonly string[]
}

/**
 * Keeps status, body and the headers of the allow list. Content that was compressed is kept decoded where that can be
 * done, else with its label. Throws `INVALID_OPTION` for a header that is never kept, `UNENCODABLE` for a status
 * outside 100 to 999.
 */
export function answerCodec({ keep = [] }: AnswerCodecOptions = {}): PlainCodec<Answer> {
  const kept = headersToKeep(keep)
  return {
    encode(answer) {
      const plain = decodedAnswer(answer)
      return pack('answer', write({ ...plain, headers: kept(plain.headers) }))
    },
    decode(receipt) {
      return read(unpack('answer', receipt))
    },
    head(answer) {
      return pack('answer', write(headOf(answer)))
    },
  }
}

/** What little is kept of an answer whose body is not: its status, and where the result can be found. */
export function headOf({ status, headers }: Answer): Answer {
  return { status, headers: headers.filter(([name]) => name.toLowerCase() === 'location'), body: null }
}

/**
 * Content: two bytes (10 bits status, 1 bit "no body", 5 bits number of headers, 31 = the number follows), the headers,
 * the body to the end. A header is one byte: 0 = name and value follow, each behind its length; below 64 = a whole line
 * of the dictionary; from 64 on = a name of the dictionary, its value follows. Lengths are LEB128.
 */
const MANY = 31
const NO_BODY = 0x20
const FIRST_NAME = 64

function write({ status, headers, body }: Answer): Uint8Array {
  if (!Number.isInteger(status) || status < 100 || status > 999) throw oddStatus(status)
  const lines = headers.flatMap(writable)
  const count = Math.min(lines.length, MANY)
  const head: number[] = [status >> 2, ((status & 3) << 6) | (body === null ? NO_BODY : 0) | count]
  if (count === MANY) writeLength(head, lines.length)
  for (const [name, value] of lines) writeLine(head, name, value)
  const content = new Uint8Array(head.length + (body?.length ?? 0))
  content.set(head)
  if (body) content.set(body, head.length)
  return content
}

function writeLine(head: number[], name: string, value: string): void {
  const line = LINES.indexOf(`${name}: ${value}`)
  if (line >= 0) {
    head.push(line + 1)
    return
  }
  const known = NAMES.indexOf(name)
  head.push(known < 0 ? 0 : FIRST_NAME + known)
  if (known < 0) writeText(head, name)
  writeText(head, value)
}

/** A line that no server can send was not in the first answer either. */
function writable([name, value]: HeaderLine): readonly HeaderLine[] {
  const sendable = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
  // Frameworks take numbers and lists for values, too, whatever the types say.
  return sendable ? [[name.toLowerCase(), String(value)]] : []
}

function writeText(head: number[], text: string): void {
  writeLength(head, text.length)
  // Field values are bytes; both Node and fetch show each as one character (latin1).
  for (let at = 0; at < text.length; at++) head.push(text.charCodeAt(at))
}

function writeLength(head: number[], length: number): void {
  let left = length
  for (; left > 0x7f; left >>>= 7) head.push((left & 0x7f) | 0x80)
  head.push(left)
}

function read(content: Uint8Array): Answer {
  let at = 0
  const next = (): number => {
    const byte = content[at++]
    if (byte === undefined) throw unreadable('it ends too early')
    return byte
  }
  const length = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = next()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
      if (shift > 28) throw unreadable('a length in it is damaged')
    }
  }
  const text = (): string => {
    const end = length() + at
    let value = ''
    while (at < end) value += String.fromCharCode(next())
    return value
  }
  const line = (): HeaderLine => {
    const code = next()
    if (code === 0) return [text(), text()]
    const whole = code < FIRST_NAME ? LINES[code - 1] : undefined
    if (whole !== undefined) return split(whole)
    const name = NAMES[code - FIRST_NAME]
    if (name === undefined) throw unreadable(`it names header ${code}, which this build does not know`)
    return [name, text()]
  }
  const first = next()
  const second = next()
  const count = second & MANY
  const lines = count === MANY ? length() : count
  // Every line takes a byte at least: a damaged number must not reserve memory.
  if (lines > content.length) throw unreadable('it ends too early')
  const headers = Array.from({ length: lines }, line)
  const body =
    (second & NO_BODY) === 0 ? new Uint8Array(content.buffer, content.byteOffset + at, content.length - at) : null
  return { status: (first << 2) | (second >> 6), headers, body }
}

function split(line: string): HeaderLine {
  const colon = line.indexOf(': ')
  return [line.slice(0, colon), line.slice(colon + 2)]
}

function oddStatus(status: number): OncekeyError {
  return new OncekeyError('UNENCODABLE', {
    what: `An answer has the status ${status}.`,
    where: 'answerCodec',
    why: 'No server can send it, so it cannot be replayed; the operation stays spent.',
    fix: 'Answer with a status from 100 to 999.',
  })
}
