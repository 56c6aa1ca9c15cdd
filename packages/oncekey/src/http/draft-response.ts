/** The answer as the work writes it, on paper of its own: Node's checks of status and headers, and the bytes, none of which has left. */
import { type OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import { isBodiless } from './produced.ts'

export interface Draft {
  /** Status and headers, with Node's own checks; it has no socket and never sends. */
  readonly head: ServerResponse
  readonly size: number
  /** The head cannot change any more; setting a header throws, as it does once a real head was sent. */
  fix(args?: readonly unknown[]): void
  readonly fixed: boolean
  push(chunk: unknown, encoding: unknown): void
  trailers?: unknown
  /** Takes what was set on the response itself by code that lost its async context. */
  adopt(): void
  answer(): Answer
  /** Puts status and headers onto the response; what outer layers set there meanwhile stays. */
  copyHead(): void
  takeBytes(): Buffer
}

export function draftOf(res: ServerResponse): Draft {
  const head = new ServerResponse(res.req)
  const before = lines(res)
  for (const [, [name, value]] of before) head.setHeader(name, value)
  head.statusCode = res.statusCode
  const statusBefore = res.statusCode
  let chunks: Buffer[] = []
  let size = 0
  let fixed = false

  return {
    head,
    get size() {
      return size
    },
    get fixed() {
      return fixed
    },
    fix(args = []) {
      if (fixed) throw sentAlready()
      writeHead(head, args)
      fixed = true
      // What `headersSent` and the checks in `setHeader` look at.
      ;(head as unknown as { _header: string })._header = 'held'
    },
    push(chunk, encoding) {
      if (chunk === undefined || chunk === null) return
      const bytes =
        typeof chunk === 'string'
          ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
          : Buffer.from(chunk as Uint8Array)
      chunks.push(bytes)
      size += bytes.length
    },
    adopt() {
      if (fixed) return
      for (const [key, [name, value]] of lines(res)) if (!same(before.get(key)?.[1], value)) head.setHeader(name, value)
      if (res.statusCode !== statusBefore) head.statusCode = res.statusCode
    },
    answer() {
      const headers = [...lines(head).values()].flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)] as const),
      )
      return {
        status: head.statusCode,
        headers,
        body: isBodiless(head.statusCode) ? null : Buffer.concat(chunks),
      }
    },
    copyHead() {
      const after = lines(head)
      for (const [key, [name]] of before) if (!after.has(key)) res.removeHeader(name)
      for (const [key, [name, value]] of after) if (!same(before.get(key)?.[1], value)) res.setHeader(name, value)
      res.statusCode = head.statusCode
      if (head.statusMessage) res.statusMessage = head.statusMessage
    },
    takeBytes() {
      const bytes = Buffer.concat(chunks)
      chunks = []
      return bytes
    },
  }
}

type Lines = Map<string, readonly [name: string, value: OutgoingHttpHeader]>

function lines(res: ServerResponse): Lines {
  const found: Lines = new Map()
  for (const name of rawNames(res)) found.set(name.toLowerCase(), [name, res.getHeader(name) ?? ''])
  return found
}

/** Names as they were written; Node's types know them on requests only. */
function rawNames(res: ServerResponse): readonly string[] {
  return (res as ServerResponse & { getRawHeaderNames(): string[] }).getRawHeaderNames()
}

function same(one: OutgoingHttpHeader | undefined, other: OutgoingHttpHeader): boolean {
  return one !== undefined && String(one) === String(other) && Array.isArray(one) === Array.isArray(other)
}

/** `writeHead(status, [reason], [headers])`, whose headers come as an object, as pairs, or as one flat list. */
function writeHead(head: ServerResponse, args: readonly unknown[]): void {
  const [status, second, third] = args
  if (status !== undefined) head.statusCode = checkedStatus(status)
  if (typeof second === 'string') head.statusMessage = second
  const headers = typeof second === 'string' || second === undefined ? third : second
  if (Array.isArray(headers)) {
    const pairs = (Array.isArray(headers[0]) ? headers.flat() : headers) as OutgoingHttpHeader[]
    for (let at = 0; at < pairs.length; at += 2) head.removeHeader(String(pairs[at]))
    for (let at = 0; at < pairs.length; at += 2) {
      const value = pairs[at + 1]
      if (value !== undefined) head.appendHeader(String(pairs[at]), Array.isArray(value) ? value : String(value))
    }
  } else if (headers !== null && typeof headers === 'object')
    for (const [name, value] of Object.entries(headers as Record<string, OutgoingHttpHeader | undefined>))
      if (value !== undefined) head.setHeader(name, value)
}

function checkedStatus(status: unknown): number {
  const code = Number(status)
  if (Number.isInteger(code) && code >= 100 && code <= 999) return code
  throw Object.assign(new RangeError(`Invalid status code: ${String(status)}`), {
    code: 'ERR_HTTP_INVALID_STATUS_CODE',
  })
}

function sentAlready(): Error {
  return Object.assign(new Error('Cannot write headers after they are sent to the client'), {
    code: 'ERR_HTTP_HEADERS_SENT',
  })
}
