import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { canonicalValue } from './canonical-value.ts'
import { isOncekeyError } from './errors.ts'

class Amount {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
}
class Hidden {
  readonly #cents: number
  constructor(cents: number) {
    this.#cents = cents
  }
  cents(): number {
    return this.#cents
  }
}

describe('a parsed value', () => {
  it('has the canonical form of the JSON it came from', () => {
    const json = fc
      .json({ stringUnit: fc.constantFrom('a', '"', '\\', 'é', '😀', '\ud800', '\n') })
      .map((text) => JSON.parse(text) as unknown)
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalValue(value)).toBe(canonicalJson(JSON.stringify(value)))
      }),
    )
  })

  it.each([1e21, 1e-7, 5e-324, 1.7976931348623157e308, -0, 0.1, 2 ** 53])(
    'writes the number %d as JSON does',
    (value) => {
      expect(canonicalValue(value)).toBe(canonicalJson(JSON.stringify(value)))
    },
  )

  it('takes members that are undefined for absent, and members of no prototype for members', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    expect(canonicalValue({ a: 1, b: undefined })).toBe(canonicalValue(bare))
    expect(canonicalValue({ a: null })).not.toBe(canonicalValue({}))
  })

  it('takes a bigint for the number it is', () => {
    expect(canonicalValue(9007199254740993n)).toBe(canonicalJson('9007199254740993'))
  })

  it('reads what a class shows of itself, as Nest and class-transformer make them', () => {
    expect(canonicalValue(new Amount(1))).toBe('{"cents":1}')
  })

  it.each<[string, unknown, unknown]>([
    ['dates', new Date(1), new Date(2)],
    ['a date and its text', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['bytes', new Uint8Array([1]), new Uint8Array([2])],
    ['buffers', new Uint8Array([1]).buffer, new Uint8Array([2]).buffer],
    ['maps', new Map([['a', 1]]), new Map([['a', 2]])],
    ['a map and an object', new Map([['a', 1]]), { a: 1 }],
    ['sets', new Set([1]), new Set([2])],
    ['a set and an array', new Set([1]), [1]],
    ['NaN and null', Number.NaN, null],
    ['the infinities', Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    ['undefined and its text', undefined, 'undefined'],
    ['a gap in an array', [undefined, 1], [1]],
    ['URLs', new URL('https://a.example/1'), new URL('https://a.example/2')],
    ['a date inside a map and its text', new Map([['a', new Date(0)]]), new Map([['a', '1970-01-01T00:00:00.000Z']])],
  ])('tells %s apart', (_, one, other) => {
    expect(canonicalValue(one)).not.toBe(canonicalValue(other))
  })

  it('leaves out by path', () => {
    expect(canonicalValue({ a: 1, b: [{ c: 2, d: 3 }] }, { omit: ['/a', '/b/0/c'] })).toBe('{"b":[{"d":3}]}')
  })

  it.each<[string, unknown]>([
    ['a function', { a: () => 1 }],
    ['a symbol', Symbol('a')],
    ['a file', new File(['one'], 'a.txt')],
    ['a blob', { file: new Blob(['one']) }],
    ['an instance that shows nothing', new Hidden(1)],
    ['form data', new FormData()],
    ['headers', new Headers({ a: 'b' })],
  ])('refuses what it cannot tell apart: %s', (_, value) => {
    expect(refusal(value)).toBe('UNENCODABLE')
  })

  it('refuses cycles and depths without a stack overflow', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(refusal(cycle)).toBe('INVALID_JSON')
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(refusal(deep)).toBe('INVALID_JSON')
    const endless = { toJSON: (): unknown => endless }
    expect(refusal(endless)).toBe('INVALID_JSON')
    const inside = new Map<string, unknown>()
    inside.set('self', inside)
    expect(refusal(inside)).toBe('INVALID_JSON')
  })

  it('has the same limit as its text', () => {
    expect(canonicalValue([[[]]], { maxDepth: 3 })).toBe('[[[]]]')
    expect(refusal([[[[]]]], { maxDepth: 3 })).toBe('INVALID_JSON')
  })
})

function refusal(value: unknown, options?: Parameters<typeof canonicalValue>[1]): string {
  try {
    return canonicalValue(value, options)
  } catch (error) {
    if (isOncekeyError(error)) return error.code
    throw error
  }
}
