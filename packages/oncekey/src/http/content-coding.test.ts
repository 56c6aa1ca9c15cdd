import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Answer, answerCodec } from './answer.ts'
import { acceptableAnswer, decoded } from './content-coding.ts'

const TEXT = 'the answer, the answer, the answer'
const plain = new TextEncoder().encode(TEXT)
const answer = (contentEncoding: string, body: Uint8Array, ...more: [string, string][]): Answer => ({
  status: 200,
  headers: [['content-type', 'text/plain'], ['content-encoding', contentEncoding], ...more],
  body: new Uint8Array(body),
})
const kept = async (given: Answer, keep: string[] = []): Promise<Answer> => {
  const codec = answerCodec({ keep })
  return codec.decode(await codec.encode(given))
}
const textOf = ({ body }: Answer): string => new TextDecoder().decode(body ?? undefined)
const codingOf = ({ headers }: Answer): string | undefined => headers.find(([name]) => name === 'content-encoding')?.[1]

describe('an answer that was compressed before it came to us', () => {
  it.each([
    ['gzip', gzipSync(plain)],
    ['x-gzip', gzipSync(plain)],
    ['GZIP', gzipSync(plain)],
    ['deflate', deflateSync(plain)],
    ['br', brotliCompressSync(plain)],
    ['gzip, br', brotliCompressSync(gzipSync(plain))],
    ['identity', plain],
  ])('is kept decoded, and without its label: %s', async (coding, body) => {
    const replay = await kept(answer(coding, body))
    expect(textOf(replay)).toBe(TEXT)
    expect(codingOf(replay)).toBeUndefined()
  })

  it.each([
    ['one that is not known here', 'snappy', plain],
    ['damaged', 'gzip', plain],
    ['raw deflate under the name of zlib', 'deflate', deflateRawSync(plain)],
    ['one in two that is not known here', 'snappy, gzip', gzipSync(plain)],
    ['a bomb', 'gzip', gzipSync(new Uint8Array(17 * 1_048_576))],
  ])('is kept as it is, with its label, where it cannot be decoded: %s', async (_, coding, bytes) => {
    const given = answer(coding, bytes)
    const { body, ...head } = await kept(given)
    expect(head).toEqual({ status: given.status, headers: given.headers })
    expect(Buffer.compare(body ?? new Uint8Array(), given.body ?? plain)).toBe(0)
  })

  it('loses digests of the coded bytes with the coding (RFC 9530)', async () => {
    const given = answer('gzip', gzipSync(plain), ['content-digest', 'sha-256=:x:'], ['x-note', 'a'])
    expect((await kept(given, ['content-digest', 'x-note'])).headers).toEqual([
      ['content-type', 'text/plain'],
      ['x-note', 'a'],
    ])
    const uncoded: Answer = { ...given, headers: given.headers.filter(([name]) => name !== 'content-encoding') }
    expect((await kept(uncoded, ['content-digest', 'x-note'])).headers).toHaveLength(3)
  })

  it('without a body has no label', async () => {
    expect((await kept({ ...answer('gzip', plain), body: null })).headers).toEqual([['content-type', 'text/plain']])
  })
})

describe('an answer that is still coded, on replay', () => {
  const coded = answer('gzip', gzipSync(plain))
  it.each(['gzip', 'br, gzip;q=0.5', '*', 'GZIP', 'identity;q=0, *;q=0.1'])(
    'stays so where Accept-Encoding is %j',
    (accept) => {
      expect(acceptableAnswer(coded, accept)).toBe(coded)
    },
  )

  it.each([undefined, null, '', 'identity', 'br', 'gzip;q=0', 'gzip;q=0.000, *', '*;q=0'])(
    'is decoded where Accept-Encoding is %j',
    (accept) => {
      const replay = acceptableAnswer(coded, accept)
      expect(textOf(replay)).toBe(TEXT)
      expect(codingOf(replay)).toBeUndefined()
    },
  )

  it('stays so where nothing here can decode it: never the label without the bytes', () => {
    const unknown = answer('snappy', plain)
    expect(acceptableAnswer(unknown, 'gzip')).toBe(unknown)
  })

  it('needs every coding to be accepted', () => {
    const twice = answer('gzip, br', brotliCompressSync(gzipSync(plain)))
    expect(textOf(acceptableAnswer(twice, 'gzip'))).toBe(TEXT)
    expect(acceptableAnswer(twice, 'gzip, br')).toBe(twice)
  })

  it('without a coding is left alone', () => {
    const uncoded: Answer = { status: 200, headers: [], body: plain }
    expect(acceptableAnswer(uncoded, undefined)).toBe(uncoded)
  })
})

describe('decoding', () => {
  it('undoes codings in the reverse of their order (RFC 9110 §8.4)', () => {
    expect(decoded(brotliCompressSync(gzipSync(plain)), 'br, gzip')).toBeUndefined()
    expect(decoded(brotliCompressSync(gzipSync(plain)), ' gzip ,, br')).toEqual(Buffer.from(plain))
  })
})
