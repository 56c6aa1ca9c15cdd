import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type KeyFault, type KeySource, type ReadKey, readKey } from './key-header.ts'

type Expected = { readonly key: string } | KeyFault | 'absent'
interface Row {
  readonly row: number | string
  readonly lines: readonly string[]
  readonly strict: Expected
  readonly tolerant: Expected
}

const UUID = '8e03978e-40d5-43e8-bc93-6894a57f9324'
const key = (text: string): Expected => ({ key: text })
const both = (row: Row['row'], line: string, expected: Expected): Row => ({
  row,
  lines: [line],
  strict: expected,
  tolerant: expected,
})
/** Refused by strict for being no String at all. */
const bare = (row: Row['row'], line: string, tolerant: Expected): Row => ({
  row,
  lines: [line],
  strict: 'not-a-string',
  tolerant,
})
const NO_CHAR: KeyFault = 'bare-illegal-char'

// The decision table of the key's syntax: RFC 9651 Strings, and the bare form that Stripe's clients send. Rows that are
// about two requests, two carriers or a trailer (50, 51, 55, 56) stand below.
const TABLE: readonly Row[] = [
  { row: 1, lines: [], strict: 'absent', tolerant: 'absent' },
  bare(2, UUID, key(UUID)),
  both(3, `"${UUID}"`, key(UUID)),
  both(4, '', 'empty'),
  both(5, '   ', 'empty'),
  both(6, '""', 'empty'),
  both(7, '"   "', 'blank'),
  both(8, '"', 'malformed'),
  both(9, '"a', 'malformed'),
  bare(10, 'a"', NO_CHAR),
  bare(11, 'a"b', NO_CHAR),
  both(12, '"a"b"', 'trailing'),
  both(13, '"a"xyz', 'trailing'),
  both(14, '"a\\"b"', key('a"b')),
  both(15, '"a\\\\b"', key('a\\b')),
  both(16, '"a\\nb"', 'malformed'),
  both(17, '"a\\"', 'malformed'),
  bare(18, 'abc\\', NO_CHAR),
  both(19, '"a,b"', key('a,b')),
  bare(20, 'a,b', NO_CHAR),
  { row: 21, lines: ['"a"', '"b"'], strict: 'multiple-lines', tolerant: 'multiple-lines' },
  { row: 22, lines: ['a', 'a'], strict: 'multiple-lines', tolerant: 'multiple-lines' },
  both(23, '"a", "a"', 'trailing'),
  { row: 24, lines: ['"a', 'b"'], strict: 'multiple-lines', tolerant: 'multiple-lines' },
  bare(25, '  abc  ', key('abc')),
  both(26, '\t"abc"\t', key('abc')),
  both(27, '"abc" ', key('abc')),
  both(28, '" abc "', key(' abc ')),
  bare(29, 'ab c', NO_CHAR),
  both(30, '"ab c"', key('ab c')),
  both('31 quoted', '"ab\tc"', 'malformed'),
  bare('31 bare', 'ab\tc', NO_CHAR),
  both('32 quoted', '"a\x7fb"', 'malformed'),
  bare('32 bare', 'a\x7fb', NO_CHAR),
  both(33, '"a\r\nb"', 'malformed'),
  both('34 quoted', '"f\u00fc\u00fc"', 'malformed'),
  bare('34 bare', 'f\u00fc\u00fc', NO_CHAR),
  bare('34 curly', '\u201cabc\u201d', NO_CHAR),
  both(35, `"${'a'.repeat(255)}"`, key('a'.repeat(255))),
  both(36, `"${'a'.repeat(256)}"`, 'too-long'),
  bare('37 at 255', 'a'.repeat(255), key('a'.repeat(255))),
  bare('37 at 256', 'a'.repeat(256), 'too-long'),
  both(38, `"${'\\"'.repeat(255)}"`, key('"'.repeat(255))),
  bare('39 bare', 'a%20b', key('a%20b')),
  both('39 quoted', '"a%20b"', key('a%20b')),
  bare(40, '%22abc%22', NO_CHAR),
  both('41 tight', '"abc";foo=1', key('abc')),
  both('41 spaced', '"abc"; foo=1', key('abc')),
  both(42, '"abc" ;foo=1', 'trailing'),
  both('43 capitals', '"abc";FOO=1', 'trailing'),
  both('43 nothing', '"abc";', 'trailing'),
  bare(44, 'abc;foo=1', NO_CHAR),
  bare(45, 'abc', key('abc')),
  bare('46 integer', '12345', key('12345')),
  bare('46 decimal', '-1.5', key('-1.5')),
  bare(47, ':YWJj:', NO_CHAR),
  bare('48 boolean', '?1', NO_CHAR),
  bare('48 date', '@1659578233', NO_CHAR),
  bare('48 display string', '%"caf%c3%a9"', NO_CHAR),
  bare('48 list', '("a" "b")', NO_CHAR),
  bare(49, "'abc'", NO_CHAR),
  bare('52 colon', 'order-42:capture', key('order-42:capture')),
  bare('52 equals', 'a=b', key('a=b')),
  bare('52 base64', 'YWJj+/==', key('YWJj+/==')),
  bare('53 JSON', '{"k":1}', NO_CHAR),
  bare('53 angles', '<abc>', NO_CHAR),
  bare('53 object', '[object Object]', NO_CHAR),
  bare('53 validator', 'W/"abc"', NO_CHAR),
  bare('54 undefined', 'undefined', key('undefined')),
  bare('54 null', 'null', key('null')),
  bare('54 NaN', 'NaN', key('NaN')),
]

describe('the key header, row by row', () => {
  for (const syntax of ['strict', 'tolerant'] as const)
    it.each(TABLE)(`row $row, ${syntax}`, ({ lines, [syntax]: expected }) => {
      expect(answer(readKey({ kind: 'lines', lines }, { syntax }))).toEqual(expected)
    })

  it('has every row', () => {
    const rows = new Set([...TABLE.map(({ row }) => Number.parseInt(String(row), 10)), 50, 51, 55, 56])
    expect([...rows].sort((one, other) => one - other)).toEqual(Array.from({ length: 56 }, (_, at) => at + 1))
  })

  it('row 50, 51: case is never folded, in UUIDs neither (ietf-wg-httpapi/idempotency#34)', () => {
    expect(keyOf('ABC')).not.toBe(keyOf('abc'))
    expect(keyOf(UUID.toUpperCase())).toBe(UUID.toUpperCase())
  })

  it('row 55: the name is found in any case, in raw headers as Node shows them', () => {
    for (const name of ['idempotency-key', 'IDEMPOTENCY-KEY', 'Idempotency-Key'])
      expect(readKey(raw('Host', 'example.org', name, 'k1'))).toEqual({ kind: 'key', key: 'k1' })
  })

  it('row 22, 56: on the wire, two lines are two and a trailer is none', async () => {
    const request = (lines: string): string =>
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${lines}\r\n0\r\nIdempotency-Key: late\r\n\r\n`
    expect(await readOverTcp(request(''))).toEqual({ kind: 'absent' })
    expect(await readOverTcp(request('idempotency-key: "k"\r\n'))).toEqual({ kind: 'key', key: 'k' })
    const twice = 'Idempotency-Key: a\r\nidempotency-key: a\r\n'
    expect(await readOverTcp(request(twice))).toMatchObject({ reason: 'multiple-lines' })
  })
})

describe('one key, two spellings', () => {
  it('takes "k-001" and k-001 for one key (ietf-wg-httpapi/idempotency#10, xavierjohn/Trellis#547)', () => {
    expect(keyOf('"k-001"')).toBe(keyOf('k-001'))
  })

  it('refuses the bare form where the route is strict', () => {
    expect(answer(readKey({ kind: 'lines', lines: ['k-001'] }, { syntax: 'strict' }))).toBe('not-a-string')
  })
})

describe('a field that was sent twice', () => {
  it('is refused, also when both lines are equal: proxies pick the first or the last', () => {
    expect(answer(readKey(raw('Idempotency-Key', 'a', 'idempotency-key', 'a')))).toBe('multiple-lines')
  })

  it.each([
    ['23 joined', '"a", "a"', 'trailing'],
    ['22 joined', 'a, a', 'bare-illegal-char'],
    ['24 joined', '"a, b"', 'multiple-lines'],
    ['19 joined', '"a,b"', 'multiple-lines'],
  ] as const)('is refused where only the joined value can be seen: row %s', (_, value, reason) => {
    expect(answer(readKey({ kind: 'joined', value }))).toBe(reason)
  })

  it('leaves a joined value without a comma alone', () => {
    expect(answer(readKey({ kind: 'joined', value: '"a b"' }))).toEqual({ key: 'a b' })
    expect(answer(readKey({ kind: 'joined', value: null }))).toBe('absent')
    expect(answer(readKey({ kind: 'joined', value: '' }))).toBe('empty')
  })
})

describe('the limit', () => {
  it('refuses and never cuts (granit-fx/granit-dotnet#1151, akira-io/laravel-sisp#229)', () => {
    const stem = 'a'.repeat(255)
    for (const line of [`${stem}${'b'.repeat(45)}`, `"${stem}${'c'.repeat(45)}"`])
      expect(answer(readKey({ kind: 'lines', lines: [line] }))).toBe('too-long')
  })

  it.each([
    ['bare', 'a'.repeat(1_048_576)],
    ['quoted', `"${'a'.repeat(1_048_576)}"`],
    ['unterminated', `"${'a'.repeat(1_048_576)}`],
    ['spaces', `a${' '.repeat(1_048_576)}b`],
    ['escapes', `"${'\\"'.repeat(524_288)}"`],
  ])('refuses a mebibyte without reading it: %s', (_, line) => {
    expect(answer(readKey({ kind: 'lines', lines: [line] }))).toBe('too-long')
  })

  it('can be lowered, and says what it is', () => {
    expect(readKey({ kind: 'lines', lines: ['abcde'] }, { maxLength: 4 })).toEqual({
      kind: 'invalid',
      reason: 'too-long',
      maxLength: 4,
    })
  })

  it('cannot be raised above what a store takes', () => {
    expect(readKey({ kind: 'lines', lines: ['a'.repeat(256)] }, { maxLength: 1_000 })).toMatchObject({
      reason: 'too-long',
      maxLength: 255,
    })
  })
})

describe('a published form', () => {
  const format = /^[0-9a-f-]{36}$/g
  it('is tested on the key itself, and again on the next', () => {
    for (const line of [UUID, `"${UUID}"`, UUID])
      expect(answer(readKey({ kind: 'lines', lines: [line] }, { format }))).toEqual({ key: UUID })
    expect(answer(readKey({ kind: 'lines', lines: ['undefined'] }, { format }))).toBe('format')
  })
})

describe('other carriers', () => {
  it.each([
    ['a field that is not there is no key', undefined, 'absent'],
    ['null is no key (aws-powertools/powertools-lambda-python#2465)', null, 'absent'],
    ['a text is the key as it stands', '"k1", ü', { key: '"k1", ü' }],
    ['a number is none', 7, 'not-a-string'],
    ['an object is none', { k: 1 }, 'not-a-string'],
    ['an empty text is none', '', 'empty'],
    ['a blank text is none', ' \u00a0', 'blank'],
    ['a lone surrogate is none', 'a\ud800', 'malformed'],
    ['a long text is none', 'a'.repeat(256), 'too-long'],
  ] as const)('%s', (_, value, expected) => {
    expect(answer(readKey({ kind: 'value', value }))).toEqual(expected)
  })
})

/** What a real server makes of a request, once all of it has arrived, trailers included. */
async function readOverTcp(request: string): Promise<ReadKey> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const [incoming] = (await once(server, 'request')) as [IncomingMessage]
  await once(incoming.resume(), 'end')
  socket.destroy()
  server.close()
  return readKey({ kind: 'raw', rawHeaders: incoming.rawHeaders })
}

function raw(...rawHeaders: string[]): KeySource {
  return { kind: 'raw', rawHeaders }
}

function keyOf(line: string): string {
  const read = readKey({ kind: 'lines', lines: [line] })
  if (read.kind !== 'key') throw new Error(`no key: ${JSON.stringify(read)}`)
  return read.key
}

function answer(read: ReadKey): Expected {
  switch (read.kind) {
    case 'absent':
      return 'absent'
    case 'key':
      return { key: read.key }
    case 'invalid':
      return read.reason
    default:
      throw read satisfies never
  }
}
