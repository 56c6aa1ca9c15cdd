import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isOncekeyError } from '../core/errors.ts'
import { type ComparedRequest, judgeComparison, type RequestBody, requestFingerprint } from './request-fingerprint.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const json = (text: string, rest: Partial<ComparedRequest> = {}): ComparedRequest => ({
  method: 'POST',
  target: '/projects?draft=1&notify=0',
  contentType: 'application/json',
  body: { kind: 'bytes', bytes: bytes(text) },
  ...rest,
})
const print = (request: ComparedRequest, omit: readonly string[] = []): string =>
  requestFingerprint(request, { omit })[0]
const FIRST = json('{"amount":1}')

describe('the same request', () => {
  it.each<[string, ComparedRequest]>([
    ['spelled by another serializer (apache/fineract#5674)', json(' {"amount": 1.0}\n')],
    ['with a charset', json('{"amount":1}', { contentType: 'application/json; charset=utf-8' })],
    ['with its type in capitals', json('{"amount":1}', { contentType: 'Application/JSON ;q=1' })],
    ['with its method in small letters, as fetch leaves patch', json('{"amount":1}', { method: 'post' })],
    ['seen as a whole URL', json('{"amount":1}', { target: 'https://api.example/projects?draft=1&notify=0' })],
    ['seen with a fragment', json('{"amount":1}', { target: 'https://api.example/projects?draft=1&notify=0#top' })],
    ['compressed', json('', { body: coded(gzipSync('{"amount":1}'), 'gzip') })],
    ['compressed twice', json('', { body: coded(brotliCompressSync(gzipSync('{"amount":1}')), 'gzip, br') })],
    ['parsed before it came to us', json('', { body: { kind: 'parsed', value: { amount: 1 } } })],
    ['read as raw bytes by a parser', json('', { body: { kind: 'parsed', value: Buffer.from('{"amount":1}') } })],
  ])('%s', (_, request) => {
    expect(print(request)).toBe(print(FIRST))
  })
})

describe('another request', () => {
  it.each<[string, ComparedRequest]>([
    ['another amount', json('{"amount":2}')],
    ['a number for a text', json('{"amount":"1"}')],
    ['another method on the same path (nensii21/devlink#1195)', json('{"amount":1}', { method: 'PATCH' })],
    ['another path (nensii21/devlink#1195)', json('{"amount":1}', { target: '/applications?draft=1&notify=0' })],
    ['another order in the query', json('{"amount":1}', { target: '/projects?notify=0&draft=1' })],
    ['no query', json('{"amount":1}', { target: '/projects' })],
    ['an encoded letter in the path', json('{"amount":1}', { target: '/%70rojects?draft=1&notify=0' })],
    ['another type', json('{"amount":1}', { contentType: 'application/merge-patch+json' })],
    ['no type', json('{"amount":1}', { contentType: undefined })],
    ['text of the same letters', json('{"amount":1}', { contentType: 'text/plain' })],
    ['no body', json('', { body: { kind: 'none' } })],
    ['an empty body', json('')],
    ['an empty object', json('{}')],
    ['a value that a schema made', json('', { body: { kind: 'validated', value: { amount: 1 } } })],
    ['bytes in a coding that is not known here', json('', { body: coded(bytes('{"amount":1}'), 'snappy') })],
  ])('%s', (_, request) => {
    expect(print(request)).not.toBe(print(FIRST))
  })

  it('an empty body is no body, and no empty object (O-09)', () => {
    expect(print(json(''))).toBe(print(json('', { body: { kind: 'none' } })))
    expect(print(json(''))).not.toBe(print(json('{}')))
  })

  it('by what the schema made of it', () => {
    const validated = (value: unknown): string => print(json('', { body: { kind: 'validated', value } }))
    expect(validated({ at: new Date(1), amount: 1 })).toBe(validated({ amount: 1, at: new Date(1) }))
    expect(validated({ at: new Date(1) })).not.toBe(validated({ at: new Date(2) }))
  })

  it('by its bytes, where it is not JSON', () => {
    const form = (text: string): string => print(json(text, { contentType: 'application/x-www-form-urlencoded' }))
    expect(form('a=1&b=2')).toBe(form('a=1&b=2'))
    expect(form('a=1&b=2')).not.toBe(form('b=2&a=1'))
    const binary = (byte: number): string =>
      print(
        json('', { contentType: 'application/octet-stream', body: { kind: 'bytes', bytes: new Uint8Array([byte]) } }),
      )
    expect(binary(0xff)).not.toBe(binary(0xfe))
  })

  it('by its coding, where that is not known here', () => {
    const text = (coding?: string): string =>
      print(json('', { contentType: 'text/plain', body: { kind: 'bytes', bytes: bytes('a'), coding } }))
    expect(new Set([text(), text('snappy'), text('lzma')]).size).toBe(3)
  })

  it('by its parts, where it is a form with files', () => {
    const form = (boundary: string, amount: string, end = '--\r\n'): string =>
      print(
        json(`--${boundary}\r\nContent-Disposition: form-data; name="amount"\r\n\r\n${amount}\r\n--${boundary}${end}`, {
          contentType: `multipart/form-data; boundary=${boundary}`,
        }),
      )
    expect(form('one', '1')).toBe(form('two', '1'))
    expect(form('one', '1')).not.toBe(form('one', '2'))
    expect(form('one', '1', '')).not.toBe(form('two', '1', ''))
  })
})

describe('what is left out', () => {
  const omit = ['/trace_id', '/file/url']
  const body = (traceId: string, amount = 1): ComparedRequest =>
    json(`{"amount":${amount},"trace_id":"${traceId}","file":{"url":"https://tmp/${traceId}"}}`)

  it('is asked for by path; by default nothing is (asimons81/wp-chatgpt-publisher#14, stripe/stripe-java#389)', () => {
    expect(print(body('a'), omit)).toBe(print(body('b'), omit))
    expect(print(body('a'), omit)).not.toBe(print(body('a', 2), omit))
    expect(print(body('a'))).not.toBe(print(body('b')))
  })

  it('is left out of parsed and validated bodies, too', () => {
    for (const kind of ['parsed', 'validated'] as const) {
      const value = (id: string): ComparedRequest => json('', { body: { kind, value: { trace_id: id, amount: 1 } } })
      expect(print(value('a'), omit)).toBe(print(value('b'), omit))
    }
  })

  it('is never the whole body, judged when the route is set up', () => {
    for (const comparison of [{ omit: [''] }, { also: [{ omit: [''] }] }, { secrets: ['short'] }])
      expect(codeOf(() => judgeComparison(comparison))).toBe('INVALID_OPTION')
    expect(codeOf(() => requestFingerprint(FIRST, { omit: [''] }))).toBe('INVALID_OPTION')
    judgeComparison({ omit: ['/a'] })
  })
})

describe('a deploy in progress (I3)', () => {
  const SECRET = 'a secret of 22 letters'
  it('matches what the release before wrote, and writes what the release before knows', () => {
    const before = requestFingerprint(FIRST)
    const during = requestFingerprint(FIRST, { also: [{ version: '2', omit: ['/trace_id'] }] })
    const after = requestFingerprint(FIRST, { version: '2', omit: ['/trace_id'], also: [{}] })
    expect(during[0]).toBe(before[0])
    expect(after).toEqual([during[1], during[0]])
  })

  it('crosses comparisons with secrets', () => {
    const prints = requestFingerprint(FIRST, { secrets: [null, SECRET], also: [{ version: '2' }] })
    expect(new Set(prints).size).toBe(4)
    expect(prints[0]).toBe(requestFingerprint(FIRST)[0])
    expect(prints[3]).toBe(requestFingerprint(FIRST, { version: '2', secrets: [SECRET] })[0])
  })
})

describe('a body that cannot be compared', () => {
  it('that nobody read or parsed is an error, never the digest of nothing (fastify/fastify#6644, golevelup/nestjs#176)', () => {
    expect(codeOf(() => requestFingerprint(json('', { body: { kind: 'parsed', value: undefined } })))).toBe(
      'BODY_UNREADABLE',
    )
  })

  it('whose files a parser of forms has put elsewhere is an error, too', () => {
    const form = json('', {
      contentType: 'multipart/form-data; boundary=b',
      body: { kind: 'parsed', value: { a: '1' } },
    })
    expect(codeOf(() => requestFingerprint(form))).toBe('BODY_UNREADABLE')
    expect(print({ ...form, body: { kind: 'validated', value: { a: '1', file: 'digest' } } })).toBeDefined()
  })

  it('of invalid JSON, or with a member named twice, is refused', () => {
    for (const text of ['{', '{"amount":1,"amount":2}', '\u0000'])
      expect(codeOf(() => requestFingerprint(json(text)))).toBe('INVALID_JSON')
    expect(codeOf(() => requestFingerprint(json('{"a":1,"a":1}', { contentType: 'application/problem+json' })))).toBe(
      'INVALID_JSON',
    )
  })

  it('that swells beyond measure is compared as it came', () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1_048_576, '1'))
    expect(print(json('', { body: coded(bomb, 'gzip') }))).toMatch(/^[0-9a-f]{64}$/)
  })
})

function coded(content: Uint8Array, coding: string): RequestBody {
  return { kind: 'bytes', bytes: content, coding }
}

function codeOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (isOncekeyError(error)) return error.code
    throw error
  }
}
