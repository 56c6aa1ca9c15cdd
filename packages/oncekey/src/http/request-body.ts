/** The body of a Request, read whole and at most to a limit. */
import { OncekeyError } from '../core/errors.ts'
import { requestTooLarge } from './request-too-large.ts'

/** Throws `REQUEST_TOO_LARGE`, and `BODY_UNREADABLE` where somebody has read it before. */
export async function readRequestBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const where = `${request.method} ${new URL(request.url).pathname}`
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw requestTooLarge(limit, where)
  if (request.bodyUsed) throw unreadable(where)
  // The server in front holds the sender to a length that was declared.
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer())
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > limit) throw requestTooLarge(limit, where)
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer())
}

/** The same request with its body to be read once more. */
export function withBody(request: Request, bytes: Uint8Array<ArrayBuffer>): Request {
  const { method, headers, signal } = request
  return new Request(request.url, { method, headers, signal, ...(bytes.length > 0 ? { body: bytes } : {}) })
}

export function unreadable(where: string): OncekeyError {
  return new OncekeyError('BODY_UNREADABLE', {
    what: 'The body of a protected request was read before, and is not at hand.',
    where,
    why: 'Without it a key could be used again for another request, and would get the answer of this one.',
    fix: 'Mount the protection before whatever reads the body, or read it through the framework, which keeps it.',
  })
}
