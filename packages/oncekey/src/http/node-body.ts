/** Reads the body of a Node request whole, and puts it back, so that whoever comes next reads it as if for the first time. */
import type { IncomingMessage } from 'node:http'
import { requestTooLarge } from './request-too-large.ts'

/** Whether the head announces a body (RFC 9112 §6.3). */
export function announcesBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers
  return coding !== undefined || (length !== undefined && length !== '0')
}

const putBack = new WeakMap<IncomingMessage, Uint8Array>()

/** The bytes that `readAndPutBack` has read, while they still stand to be read. */
export function stillPutBack(req: IncomingMessage): Uint8Array | undefined {
  return req.readableEnded ? undefined : putBack.get(req)
}

/** Throws `REQUEST_TOO_LARGE`; an error of status 400 where the sender hung up in the middle. */
export function readAndPutBack(req: IncomingMessage, limit: number, where: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    if (Number(req.headers['content-length'] ?? 0) > limit) {
      reject(requestTooLarge(limit, where))
      return
    }

    function drain(): void {
      for (let chunk = req.read() as Buffer | null; chunk !== null; chunk = req.read() as Buffer | null) {
        chunks.push(chunk)
        size += chunk.length
        if (size > limit) {
          done(() => reject(requestTooLarge(limit, where)))
          return
        }
      }
      if (!req.complete) return
      const bytes = Buffer.concat(chunks)
      // Now, in the same tick: `end` is only told in the next one, and not at all while bytes stand in the buffer.
      if (bytes.length > 0) req.unshift(bytes)
      putBack.set(req, bytes)
      done(() => resolve(bytes))
    }
    function broken(): void {
      if (!req.complete) done(() => reject(aborted()))
    }
    function done(settle: () => void): void {
      req.off('readable', drain)
      req.off('close', broken)
      req.off('error', broken)
      settle()
    }
    req.on('readable', drain)
    req.on('close', broken)
    req.on('error', broken)
    drain()
  })
}

/** What body parsers say to the app's error handler in this case. */
function aborted(): Error {
  return Object.assign(new Error('request aborted'), { status: 400, statusCode: 400, type: 'request.aborted' })
}
