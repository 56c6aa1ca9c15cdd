import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameValue, spelled, value } from '../../../../test/support/json-model.ts'
import { canonicalJson } from './canonical-json.ts'
import { isOncekeyError } from './errors.ts'

const same = (one: string, other: string): boolean => canonicalJson(one) === canonicalJson(other)

describe('one value, one text', () => {
  it.each([
    [
      'member order and white space (apache/fineract#5674)',
      '{"a":1,"b":{"x":1,"y":[1,2]}}',
      '{ "b": {"y":[1,2],"x":1}, "a":1 }\n',
    ],
    ['escapes (crewAIInc/crewAI#5822)', '"\\u00e9\\/\\n"', '"é/\\u000a"'],
    ['escapes in names', '{"\\u0061":1}', '{"a":1}'],
    ['astral characters', '"\\ud83d\\ude00"', '"😀"'],
    ['1.0', '1', '1.0'],
    ['1e0', '1', '1E+0'],
    ['10e-1', '1', '10e-1'],
    ['0.0001e4', '1', '0.0001e4'],
    ['-0', '0', '-0.0e7'],
    ['zero with an absurd exponent', '0', `0e${'9'.repeat(500)}`],
    ['padded exponents', '1e5', '100000.000e000'],
    ['a byte order mark', '\uFEFF{}', '{}'],
  ])('%s', (_, one, other) => {
    expect(same(one, other)).toBe(true)
  })

  it.each([
    ['array order', '[1,2]', '[2,1]'],
    ['null and absent', '{"a":null}', '{}'],
    ['string and number', '"1"', '1'],
    ['string and word', '"null"', 'null'],
    ['integers above 2^53', '9007199254740993', '9007199254740992'],
    ['more digits than a double has', '0.1', '0.1000000000000000055511151231257827'],
    ['numbers a double calls infinite', '1e400', '1e401'],
    ['numbers a double calls zero', '1e-400', '0'],
    ['a number and its negative', '1', '-1'],
    ['nested and flat', '[[1],2]', '[[1,2]]'],
    ['names that look like structure', '{"a\\":1,\\"b":2}', '{"a":1,"b":2}'],
    ['an empty array and an empty object', '[]', '{}'],
    ['lone surrogates and their replacement', '"\\ud800"', '"\\ufffd"'],
    ['two lone surrogates', '"\\ud800"', '"\\ud801"'],
    ['a lone surrogate and its escape as text', '"\\ud800"', '"\\\\ud800"'],
    ['composed and decomposed letters', '"\\u00e9"', '"e\\u0301"'],
  ])('%s are two values', (_, one, other) => {
    expect(same(one, other)).toBe(false)
  })

  it('reads bytes and text alike, with and without a byte order mark', () => {
    const bytes = new TextEncoder().encode('\uFEFF{"a":"é"}')
    expect(canonicalJson(bytes)).toBe(canonicalJson('{"a":"é"}'))
  })

  it('keeps a huge exponent a handful of characters', () => {
    expect(canonicalJson('1e999999999999999999')).toBe('1e999999999999999999')
    expect(canonicalJson('120.50e999999999999999999')).toBe('1205e999999999999999998')
  })

  it('takes any member name', () => {
    const text = '{"__proto__":{"a":1},"constructor":2,"toString":3,"":4}'
    expect(canonicalJson(text)).toBe('{"":4,"__proto__":{"a":1},"constructor":2,"toString":3}')
    expect(same(text, '{"constructor":2,"toString":3,"":4}')).toBe(false)
  })

  it('gives text that is JSON and its own canonical form', () => {
    fc.assert(
      fc.property(value, fc.infiniteStream(fc.nat()), (model, choices) => {
        const canonical = canonicalJson(spelled(model, choices))
        JSON.parse(canonical)
        expect(canonicalJson(canonical)).toBe(canonical)
      }),
    )
  })

  it('is equal for every spelling of a value', () => {
    fc.assert(
      fc.property(value, fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.nat()), (model, one, other) => {
        expect(canonicalJson(spelled(model, one))).toBe(canonicalJson(spelled(model, other)))
      }),
    )
  })

  it('is equal for two values only if the reference says so', () => {
    fc.assert(
      fc.property(value, value, fc.infiniteStream(fc.nat()), (one, other, choices) => {
        expect(same(spelled(one, choices), spelled(other, choices))).toBe(sameValue(one, other))
      }),
      { numRuns: 1_000 },
    )
  })

  it('agrees with deep equality where JSON.parse loses nothing', () => {
    const json = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom('a', '"', '\\', 'é', '😀', '\ud800', '\n') })
    fc.assert(
      fc.property(json, json, (one, other) => {
        const [first, second] = [JSON.stringify(one), JSON.stringify(other)]
        expect(same(first, second)).toBe(isDeepStrictEqual(JSON.parse(first), JSON.parse(second)))
        expect(same(first, JSON.stringify(one, null, 2))).toBe(true)
      }),
    )
  })
})

describe('what cannot be compared is refused', () => {
  it.each([
    ['no text', ''],
    ['white space', ' \n'],
    ['two values', '1 2'],
    ['a trailing comma', '[1,]'],
    ['a leading zero', '01'],
    ['a bare point', '1.'],
    ['a comment', '{/* */}'],
    ['single quotes', "{'a':1}"],
    ['a control character', '"\u0001"'],
    ['an unfinished escape', '"\\u12"'],
    ['NaN', 'NaN'],
    ['two byte order marks', '\uFEFF\uFEFF1'],
    ['a member named twice', '{"a":1,"a":1}'],
    ['a member named twice in two spellings', '{"a":1,"\\u0061":2}'],
    ['__proto__ named twice', '{"__proto__":1,"__proto__":1}'],
    ['a member named twice far inside', '[{"x":[{"k":1,"k":2}]}]'],
    ['an exponent of 2,000 digits', `1e${'9'.repeat(2_000)}`],
  ])('%s', (_, text) => {
    expect(refusal(text)).toBe('INVALID_JSON')
  })

  it.each([
    ['a stray continuation', [0x22, 0x80, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a cut character', [0x22, 0xe2, 0x82, 0x22]],
    ['UTF-16', [0x22, 0x00, 0x61, 0x00, 0x22, 0x00]],
  ])('bytes that are no UTF-8: %s', (_, bytes) => {
    expect(refusal(new Uint8Array(bytes))).toBe('INVALID_JSON')
  })

  it.each([
    ['arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['unfinished arrays', '['.repeat(100_000)],
  ])('100,000 levels of %s, without a stack overflow', (_, text) => {
    expect(refusal(text)).toBe('INVALID_JSON')
  })

  it('has its limit exactly where it says', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(canonicalJson(nested(3), { maxDepth: 3 })).toBe('[[[]]]')
    expect(refusal(nested(4), { maxDepth: 3 })).toBe('INVALID_JSON')
    expect(canonicalJson(nested(512))).toHaveLength(1_024)
    expect(canonicalJson(nested(1_000), { maxDepth: 1_000 })).toHaveLength(2_000)
    for (const maxDepth of [0, 1.5, 1_001, Number.NaN]) expect(refusal('1', { maxDepth })).toBe('INVALID_OPTION')
  })

  it('does not quote the body in its error', () => {
    try {
      canonicalJson('{"card":"4242 secret",}')
      expect.unreachable()
    } catch (error) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('4242')
      expect((error as Error).cause).toBeUndefined()
    }
  })

  it('accepts exactly what JSON.parse accepts, duplicates aside', () => {
    const scraps = fc.string({
      unit: fc.constantFrom(...Array.from('{}[]",:\\u0129-+.eE tfn'), 'true', 'null', '"a"'),
      maxLength: 12,
    })
    fc.assert(
      fc.property(scraps, (text) => {
        const parses = succeeds(() => JSON.parse(text))
        expect(succeeds(() => canonicalJson(text)) || hasTwins(text)).toBe(parses || hasTwins(text))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('what is left out', () => {
  const without = (text: string, ...omit: string[]): string => canonicalJson(text, { omit })

  it('is named by path, present or not (asimons81/wp-chatgpt-publisher#14)', () => {
    const omit = ['/trace_id', '/file/url']
    const first = without('{"amount":1,"trace_id":"a","file":{"url":"x","name":"n"}}', ...omit)
    expect(without('{"amount":1,"trace_id":"b","file":{"name":"n","url":["y"]}}', ...omit)).toBe(first)
    expect(without('{"amount":1,"file":{"name":"n"}}', ...omit)).toBe(first)
    expect(without('{"amount":2,"trace_id":"a","file":{"url":"x","name":"n"}}', ...omit)).not.toBe(first)
    expect(without('{"amount":1,"trace_id":"a","file":{"url":"x","name":"m"}}', ...omit)).not.toBe(first)
  })

  it('is compared where nobody left it out (crbnos/carbon#252)', () => {
    expect(without('{"trace_id":"a"}')).not.toBe(without('{"trace_id":"b"}'))
  })

  it('reaches into arrays, by index', () => {
    expect(without('{"a":[{"t":1,"v":2},{"t":3}]}', '/a/0/t')).toBe('{"a":[{"v":2},{"t":3}]}')
    expect(without('[1,2,3]', '/1')).toBe('[1,3]')
  })

  it('knows escapes, empty names and names that no object should have', () => {
    expect(without('{"a/b":1,"m~n":2,"":3,"__proto__":4,"x":5}', '/a~1b', '/m~0n', '/', '/__proto__')).toBe('{"x":5}')
    expect(without('{"~1":1,"/":2}', '/~01')).toBe('{"/":2}')
  })

  it('lets the wider of two pointers win, in any order', () => {
    expect(without('{"a":{"b":1,"c":2}}', '/a', '/a/b')).toBe('{}')
    expect(without('{"a":{"b":1,"c":2}}', '/a/b', '/a')).toBe('{}')
  })

  it('is still read: a member named twice in it is refused', () => {
    expect(refusal('{"a":{"x":1,"x":2}}', { omit: ['/a'] })).toBe('INVALID_JSON')
  })

  it.each(['', 'trace_id', '/a~2', '/a~', '#/a'])(
    'is never the whole body, nor a pointer that is none: %j',
    (pointer) => {
      expect(refusal('{}', { omit: [pointer] })).toBe('INVALID_OPTION')
    },
  )
})

function refusal(text: string | Uint8Array, options?: Parameters<typeof canonicalJson>[1]): string {
  try {
    return canonicalJson(text, options)
  } catch (error) {
    if (isOncekeyError(error)) return error.code
    throw error
  }
}

function succeeds(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch {
    return false
  }
}

/** Valid JSON that was refused for a reason JSON.parse does not know. */
function hasTwins(text: string): boolean {
  try {
    canonicalJson(text)
    return false
  } catch (error) {
    return isOncekeyError(error, 'INVALID_JSON') && /names a member twice/.test(error.message)
  }
}
