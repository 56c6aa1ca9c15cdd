/** What was kept comes back as what it was, or is called unreadable; it is never taken for something else. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FORMATS, pack, unpack, valueCodec } from './receipt.ts'

const unreadable = expect.objectContaining({ code: 'RECEIPT_UNREADABLE' })
const utf8 = (text: string) => new TextEncoder().encode(text)

describe('the envelope', () => {
  test('gives back any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2_000 }),
        fc.constantFrom('value', 'answer' as const),
        (content, format) => {
          expect(Buffer.from(unpack(format, pack(format, content)))).toEqual(Buffer.from(content))
        },
      ),
    )
  })
  test('deflates what gets smaller, and nothing else', () => {
    expect(pack('value', utf8('ab'.repeat(1_000))).length).toBeLessThan(100)
    const random = crypto.getRandomValues(new Uint8Array(1_000))
    expect(pack('value', random).length).toBe(1_001)
    expect(pack('value', utf8('short')).length).toBe(6)
  })
  test('of another format, of none, or of a later version is unreadable', () => {
    expect(() => unpack('answer', pack('value', utf8('x')))).toThrow(unreadable)
    expect(() => unpack('value', Uint8Array.of())).toThrow(unreadable)
    expect(() => unpack('value', Uint8Array.of(77, 1, 2))).toThrow(unreadable)
  })
  test('whose bytes are damaged is unreadable', () => {
    expect(() => unpack('value', Uint8Array.of(FORMATS.value | 0x80, 255, 255, 255))).toThrow(unreadable)
  })
  test('never changes the meaning of a number: records of earlier releases are read by it', () => {
    expect(FORMATS).toMatchObject({ value: 1, answer: 2 })
    expect(unpack('value', Uint8Array.of(1, 104, 105))).toEqual(utf8('hi'))
  })
})

describe('values', () => {
  const { encode, decode } = valueCodec<unknown>()
  const roundTrip = async (value: unknown) => decode(await encode(value))

  // aws-powertools/powertools-lambda-typescript#2505, remcod-ru/remcod-agent-runtime#15
  test.each([undefined, null, '', 0, false, Number.NaN, -0, 10n ** 30n])('%s is an answer', async (value) => {
    expect(Object.is(await roundTrip(value), value)).toBe(true)
  })
  // aws-powertools/powertools-lambda-typescript#2944
  test('dates, maps, sets, bytes, holes and cycles come back as what they were', async () => {
    const value: Record<string, unknown> = {
      at: new Date(0),
      map: new Map([[1, new Set(['a'])]]),
      bytes: Uint8Array.of(1, 2, 3),
      gone: undefined,
    }
    value.self = value
    const back = (await roundTrip(value)) as typeof value
    expect(back).toEqual(value)
    expect(back.self).toBe(back)
    expect('gone' in back).toBe(true)
  })
  test('anything that JSON can say comes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: true }), async (value) => {
        expect(await roundTrip(value)).toEqual(value)
      }),
    )
  })
  test.each([[() => 1], [Symbol('x')], [new (class Charge {})()], [{ deep: [new (class {})()] }]])(
    '%s cannot be kept, and says so',
    async (value) => {
      await expect(async () => encode(value)).rejects.toEqual(expect.objectContaining({ code: 'UNENCODABLE' }))
    },
  )
  test('what is no value is unreadable', async () => {
    await expect(async () => decode(pack('value', utf8('{')))).rejects.toEqual(unreadable)
    await expect(async () => decode(pack('value', utf8('no value')))).rejects.toEqual(unreadable)
  })
})
