/** The body of a Response: whole, where it ends in good time and size; else the record says that it happened, and it flows on. */
import type { Answer } from './answer.ts'
import type { HeaderLine } from './kept-headers.ts'
import { isBodiless, type Produced, type Streams } from './produced.ts'

/** An undeclared stream that has not ended by then goes out as it comes: a person waits for its first byte. */
const UNDECLARED_MS = 100

export interface Buffering {
  /** Bytes that are held back at most. */
  readonly limit: number
  readonly streams: Streams | undefined
}

export interface BufferedResponse {
  readonly produced: Produced
  /** For the wire: the same status and headers, over the bytes that were read, or over those and what still flows. */
  readonly response: Response
}

/** Reads the body of what a handler has returned. It never throws: trouble in the body is no trouble of the work. */
export async function bufferResponse(response: Response, { limit, streams }: Buffering): Promise<BufferedResponse> {
  const headers: HeaderLine[] = [...response.headers]
  const head = (body: Uint8Array | null): Answer => ({ status: response.status, headers, body })
  // 101 and `Response.error()` cannot be made again; they are handed on as they are.
  if (response.status < 200) return { produced: { answer: head(null), unkept: 'stream' }, response }
  if (response.body === null || isBodiless(response.status)) return { produced: { answer: head(null) }, response }
  const eventStream = /^text\/event-stream/i.test(response.headers.get('content-type') ?? '')
  const patience = streams === 'buffer' ? undefined : streams === 'spend' || eventStream ? 0 : UNDECLARED_MS
  const read = await readSome(response.body.getReader(), limit, patience)
  const { status, statusText } = response
  const again = (body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>): Response =>
    new Response(body, { status, statusText, headers: response.headers })
  if (read.kind === 'whole') return { produced: { answer: head(read.bytes) }, response: again(read.bytes) }
  return {
    produced: { answer: head(null), unkept: read.kind === 'long' ? 'too-large' : 'stream' },
    response: again(read.rest),
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Read = Awaited<ReturnType<Reader['read']>>
type SoFar =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'long' | 'slow' | 'broken'; readonly rest: ReadableStream<Uint8Array> }

async function readSome(reader: Reader, limit: number, patienceMs: number | undefined): Promise<SoFar> {
  const chunks: Uint8Array[] = []
  let size = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'late'>((resolve) => {
    if (patienceMs !== undefined) timer = setTimeout(resolve, patienceMs, 'late')
  })
  try {
    for (;;) {
      const next = reader.read()
      const read = await Promise.race([next, late])
      if (read === 'late') return { kind: 'slow', rest: rest(reader, chunks, next) }
      if (read.done) return { kind: 'whole', bytes: joined(chunks, size) }
      chunks.push(read.value)
      size += read.value.length
      if (size > limit) return { kind: 'long', rest: rest(reader, chunks) }
    }
  } catch (error) {
    return { kind: 'broken', rest: rest(reader, chunks, Promise.reject(error)) }
  } finally {
    clearTimeout(timer)
  }
}

/** What was read, then what still comes. */
function rest(reader: Reader, chunks: readonly Uint8Array[], pending?: Promise<Read>): ReadableStream<Uint8Array> {
  const early = [...chunks]
  let next = pending
  // Until somebody pulls, a broken body is nobody's unhandled rejection.
  next?.catch(() => {})
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = early.shift()
      if (chunk) {
        controller.enqueue(chunk)
        return
      }
      const waiting = next ?? reader.read()
      next = undefined
      const read = await waiting
      if (read.done) controller.close()
      else controller.enqueue(read.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
