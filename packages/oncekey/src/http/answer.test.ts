import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOncekeyError } from '../core/errors.ts'
import { FORMATS } from '../core/receipt.ts'
import { type Answer, answerCodec, headOf } from './answer.ts'
import { LINES, NAMES } from './answer-dictionary.ts'
import type { HeaderLine } from './kept-headers.ts'

const codec = answerCodec({ keep: ['x-note', 'x-number'] })
const replayed = async (answer: Answer): Promise<Answer> => codec.decode(await codec.encode(answer))
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('a kept answer', () => {
  it('of 201, JSON and 45 bytes takes 49 bytes in all', async () => {
    const body = bytes(`{"id":"ch_1","amount":1000,"status":"paid"}  `)
    expect(body).toHaveLength(45)
    const receipt = await codec.encode({ status: 201, headers: [['Content-Type', 'application/json']], body })
    expect(receipt).toHaveLength(49)
  })

  it('comes back byte for byte', async () => {
    const value = fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter((code) => code < 0x7f || code > 0x9f)
        .map((code) => String.fromCharCode(code)),
    })
    const line: fc.Arbitrary<HeaderLine> = fc.oneof(
      fc.tuple(fc.constantFrom(...NAMES.filter((name) => name !== 'content-encoding'), 'x-note'), value),
      fc.constantFrom(...LINES).map((text): HeaderLine => [text.replace(/: .*/, ''), text.replace(/.*?: /, '')]),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 100, max: 999 }),
        fc.array(line, { maxLength: 40 }),
        fc.option(fc.uint8Array({ maxLength: 600 })),
        async (status, headers, body) => {
          expect(await replayed({ status, headers, body })).toEqual({ status, headers, body })
        },
      ),
    )
  })

  it.each<[string, Answer]>([
    ['204 without a body', { status: 204, headers: [], body: null }],
    ['200 with an empty body', { status: 200, headers: [], body: new Uint8Array() }],
    ['302 with a location', { status: 302, headers: [['location', '/payments/7']], body: null }],
    [
      '402, a declined card',
      { status: 402, headers: [['content-type', 'application/problem+json']], body: bytes('{}') },
    ],
    ['406, once replayed as 200 (ikyriak/IdempotentAPI#39)', { status: 406, headers: [], body: bytes('no') }],
    ['binary', { status: 200, headers: [['content-type', 'image/png']], body: new Uint8Array([0, 255, 13, 10]) }],
    [
      'two lines of one name',
      {
        status: 200,
        headers: [
          ['link', '</a>; rel=next'],
          ['link', '</b>; rel=prev'],
        ],
        body: null,
      },
    ],
    [
      'fifty headers',
      { status: 200, headers: Array.from({ length: 50 }, (_, at) => ['x-note', String(at)] as const), body: null },
    ],
    ['a long value', { status: 200, headers: [['x-note', 'a'.repeat(70_000)]], body: bytes('b') }],
  ])('comes back: %s', async (_, answer) => {
    expect(await replayed(answer)).toEqual(answer)
  })

  it('comes back: a mebibyte of noise', async () => {
    const noise = new Uint8Array(1_048_576).map((_, at) => (at * at) >> 7)
    const { body } = await replayed({ status: 200, headers: [], body: noise })
    expect(Buffer.compare(body ?? new Uint8Array(), noise)).toBe(0)
  })

  it('never throws on odd headers, and leaves out what no server can send', async () => {
    const odd = [
      ['x-note', 'a\r\nSet-Cookie: b'],
      ['x-note', '\u0000'],
      ['x-note', '😀'],
      ['x note', 'a'],
      ['', 'a'],
      ['x-note', ''],
      ['X-Note', 'f\u00fc'],
      ['x-number', 7 as never],
      ['constructor', 'a'],
    ] as const
    const { headers } = await replayed({ status: 200, headers: odd, body: null })
    expect(headers).toEqual([
      ['x-note', ''],
      ['x-note', 'f\u00fc'],
      ['x-number', '7'],
    ])
  })

  it.each([0, 99, 1_000, 200.5, Number.NaN])('of status %d cannot be kept', (status) => {
    expect(codeOf(() => codec.encode({ status, headers: [], body: null }))).toBe('UNENCODABLE')
  })
})

describe('the head of an answer that was not kept', () => {
  it('has its status and location, and nothing else', async () => {
    const answer: Answer = {
      status: 201,
      headers: [
        ['Content-Type', 'text/csv'],
        ['Location', '/exports/9'],
        ['Set-Cookie', 'session=1'],
      ],
      body: new Uint8Array(2_000_000),
    }
    const head = codec.head?.(answer)
    expect(head && (await codec.decode(head))).toEqual({
      status: 201,
      headers: [['location', '/exports/9']],
      body: null,
    })
    expect(headOf(answer).body).toBeNull()
  })
})

describe('bytes that are no answer of this build', () => {
  const good = [FORMATS.answer, 0x32, 0x41, 1, 0x7b]
  it('are RECEIPT_UNREADABLE, never an answer made up (S7)', () => {
    expect(codec.decode(new Uint8Array(good))).toMatchObject({ status: 201 })
    for (const damaged of [
      [],
      [FORMATS.value, ...good.slice(1)],
      [0x7f, ...good.slice(1)],
      [FORMATS.answer],
      [FORMATS.answer, 0x32],
      [FORMATS.answer, 0x32, 0x41],
      [FORMATS.answer, 0x32, 0x41, 63],
      [FORMATS.answer, 0x32, 0x41, 255],
      [FORMATS.answer, 0x32, 0x41, 64, 200],
      [FORMATS.answer, 0x32, 0x41, 64, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
      [FORMATS.answer, 0x32, 0x5f, 0xff, 0xff, 0xff, 0xff, 0x7f],
      [FORMATS.answer, 0x32, 0x41, 64, ...Array<number>(150).fill(0x80), 0],
      [FORMATS.answer, 0x32, 0x5f, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ])
      expect(codeOf(() => codec.decode(new Uint8Array(damaged)))).toBe('RECEIPT_UNREADABLE')
  })

  it('do not take the process with them, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (damaged) => {
        const receipt = new Uint8Array([FORMATS.answer, ...damaged])
        expect([undefined, 'RECEIPT_UNREADABLE']).toContain(codeOf(() => codec.decode(receipt)))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('the dictionary', () => {
  it('fits its codes, and never moves: a kept answer outlives the release that wrote it', () => {
    expect(LINES.length).toBeLessThanOrEqual(63)
    expect(NAMES.length).toBeLessThanOrEqual(192)
    expect(LINES.slice(0, 3)).toEqual([
      'content-type: application/json',
      'content-type: application/json; charset=utf-8',
      'content-type: application/json;charset=utf-8',
    ])
    expect(LINES.indexOf('content-type: text/plain;charset=UTF-8')).toBe(14)
    expect(LINES.indexOf('cache-control: private, no-store')).toBe(23)
    expect(NAMES.join()).toBe(
      'content-type,content-language,content-disposition,content-location,location,etag,last-modified,link,allow,cache-control,content-encoding',
    )
  })
})

function codeOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (isOncekeyError(error)) return error.code
    throw error
  }
}
