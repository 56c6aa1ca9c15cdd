/** An Express request as the rules see it, mounted before or after body parsers. */

import type { Request, Response } from 'express'
import { OncekeyError } from '../core/errors.ts'
import type { Exchange } from './exchange.ts'
import { announcesBody, readAndPutBack, stillPutBack } from './node-body.ts'
import type { RequestBody } from './request-fingerprint.ts'

/** What parsers and `verify` hooks leave on a request. */
interface Left {
  readonly body?: unknown
  readonly rawBody?: unknown
  readonly file?: unknown
  readonly files?: unknown
}

export function exchangeOf(req: Request, res: Response): Exchange<Request> {
  return {
    context: req,
    method: req.method,
    target: req.originalUrl,
    header(name) {
      const value = req.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    lines: () => ({ kind: 'raw', rawHeaders: req.rawHeaders }),
    body: (limit) => bodyOf(req, limit),
    signal() {
      const gone = new AbortController()
      res.once('close', () => gone.abort())
      return gone.signal
    },
    identities: [req],
    repeatable: false,
  }
}

async function bodyOf(req: Request, limit: number): Promise<RequestBody> {
  const where = `${req.method} ${req.path}`
  const { body, rawBody, file, files } = req as Left
  const coding = req.headers['content-encoding']
  if (!announcesBody(req)) return { kind: 'none' }
  if (!req.readableDidRead) return { kind: 'bytes', bytes: await readAndPutBack(req, limit, where), coding }
  const bytes = stillPutBack(req)
  if (bytes) return { kind: 'bytes', bytes, coding }
  if (rawBody instanceof Uint8Array) return { kind: 'bytes', bytes: rawBody }
  // Read by somebody, and nobody says what it was; or files of which only what is beside them would be compared.
  if (body === undefined || !req.readableEnded || file !== undefined || files !== undefined) throw unreadable(where)
  return { kind: 'parsed', value: body }
}

function unreadable(where: string): OncekeyError {
  return new OncekeyError('BODY_UNREADABLE', {
    what: 'The body of a protected request has been read, and is not at hand.',
    where,
    why: 'The digest of nothing is the same for every request: a reused key would get another request’s answer.',
    fix: 'Mount the protection before whatever reads the body, behind a parser that sets `req.body`, or keep the bytes as `req.rawBody` in its `verify` hook.',
  })
}
