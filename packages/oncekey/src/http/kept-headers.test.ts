import { describe, expect, it } from 'vitest'
import { isOncekeyError } from '../core/errors.ts'
import { type HeaderLine, headersToKeep, KEPT_HEADERS, neverKept } from './kept-headers.ts'

const names = (lines: readonly HeaderLine[]): string[] => lines.map(([name]) => name)

describe('headers of a kept answer', () => {
  it('are those of the result, in their order, in any case (VSN2015/concerns_on_rails#47: Location was lost)', () => {
    const lines = KEPT_HEADERS.map((name): HeaderLine => [name.toUpperCase(), 'v'])
    expect(headersToKeep()(lines)).toEqual(lines)
  })

  it('are no others, unless the app names them', () => {
    const lines: HeaderLine[] = [
      ['X-Total', '7'],
      ['Vary', 'Origin'],
      ['constructor', 'a'],
    ]
    expect(headersToKeep()(lines)).toEqual([])
    expect(names(headersToKeep(['x-TOTAL'])(lines))).toEqual(['X-Total'])
  })

  it('are never those of one exchange (granit-fx/granit-dotnet#1151, pathosDev/actor-ts#980)', () => {
    const lines: HeaderLine[] = [
      ['Location', '/a'],
      ['Set-Cookie', 'session=1'],
      ['Set-Cookie', 'csrf=2'],
      ['WWW-Authenticate', 'Basic'],
      ['Date', 'x'],
      ['X-RateLimit-Remaining', '3'],
      ['X-Request-Id', 'r'],
      ['Connection', 'close'],
    ]
    expect(headersToKeep()(lines)).toEqual([['Location', '/a']])
  })

  it('are not those that Connection names, though they are on the list (RFC 9110 §7.6.1)', () => {
    const lines: HeaderLine[] = [
      ['Connection', 'close, ETag'],
      ['connection', 'X-Note'],
      ['ETag', '"1"'],
      ['X-Note', 'a'],
      ['Location', '/a'],
    ]
    expect(headersToKeep(['x-note'])(lines)).toEqual([['Location', '/a']])
  })

  it.each([
    ...[
      'Set-Cookie',
      'Set-Cookie2',
      'Date',
      'Age',
      'Expires',
      'Via',
      'Server',
      'Server-Timing',
      'Alt-Svc',
      'Retry-After',
    ],
    ...[
      'Connection',
      'Keep-Alive',
      'Proxy-Connection',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Upgrade',
      'HTTP2-Settings',
    ],
    ...['Content-Length', 'Sec-WebSocket-Accept', 'Proxy-Authenticate', 'WWW-Authenticate', 'Authentication-Info'],
    ...[
      'Access-Control-Allow-Origin',
      'Access-Control-Expose-Headers',
      'RateLimit',
      'RateLimit-Policy',
      'X-RateLimit-Limit',
    ],
    ...[
      'X-Request-Id',
      'Request-Id',
      'X-Amzn-RequestId',
      'X-Correlation-ID',
      'X-Amzn-Trace-Id',
      'traceparent',
      'tracestate',
    ],
    ...['Strict-Transport-Security', 'Content-Security-Policy', 'Report-To', 'NEL', 'Signature', 'Signature-Input'],
    ...['Clear-Site-Data', 'Idempotent-Replayed'],
  ])('cannot be made to include %s: the mistake is told at start', (name) => {
    expect(neverKept(name)).toBe(true)
    try {
      headersToKeep(['x-total', name])
      expect.unreachable()
    } catch (error) {
      expect(isOncekeyError(error, 'INVALID_OPTION')).toBe(true)
    }
  })

  it('may have names that only look like those', () => {
    for (const name of ['order-id', 'x-dated', 'request-identity', 'x-rate', 'idempotency-key'])
      expect(neverKept(name)).toBe(false)
  })
})
