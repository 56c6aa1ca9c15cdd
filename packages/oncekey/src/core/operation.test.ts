/** I1, I2, I3 and I5: what names an operation, and that no two operations share a record. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { childKeyOf, identify, identifyKey, MAX_PART_LENGTH, type Operation } from './operation.ts'

const charge: Operation = { scope: ['acct_1'], key: 'k-001', fingerprints: ['body'] }
// Few letters, and separators among them, so that collisions would be found.
const part = fc.string({ unit: fc.constantFrom('a', 'b', ':', '1', '/', '\u0000'), minLength: 1, maxLength: 4 })
const tuple = fc.record({ scope: fc.array(part, { minLength: 1, maxLength: 3 }), key: part })

describe('the identity', () => {
  // triggerdotdev/trigger.dev#3752
  test('is the same for equal tuples only', () => {
    fc.assert(
      fc.property(tuple, tuple, (one, two) => {
        const same = JSON.stringify(one) === JSON.stringify(two)
        expect(identifyKey(one).id === identifyKey(two).id).toBe(same)
      }),
      { numRuns: 2_000 },
    )
  })
  test('of one text and of a list with that text is the same', () => {
    expect(identify({ ...charge, scope: 'acct_1' }).id).toBe(identify(charge).id)
  })
  test('never changes from one release to the next', () => {
    expect(identify(charge).id).toMatchInlineSnapshot(`"4b54425fb5a9ef547077819cf1bd2a0b"`)
    expect(identify(charge).prints).toMatchInlineSnapshot(`
      [
        "5ba6d1f16118c283d302246adea92740",
      ]
    `)
  })
  test('begins with the time of a UUIDv7 or ULID, for locality in an index, and still differs in the rest', () => {
    const uuid = identifyKey({ scope: 'a', key: '01890A5D-ac96-774b-bcce-b302099a8057' }).id
    expect(uuid).toMatch(/^01890a5dac96[0-9a-f]{20}$/)
    expect(identifyKey({ scope: 'b', key: '01890A5D-ac96-774b-bcce-b302099a8057' }).id).not.toBe(uuid)
    // ulid.github.io's own example: 01ARYZ6S41 is 1469918176385.
    expect(identifyKey({ scope: 'a', key: '01ARYZ6S41TSV4RRFFQ69G5FAV' }).id.slice(0, 12)).toBe(
      (1_469_918_176_385).toString(16).padStart(12, '0'),
    )
  })
  test('keeps keys apart that differ in case or normal form alone', () => {
    const ids = ['é', 'e\u0301', 'É', 'k', 'K', ' k'].map((key) => identifyKey({ scope: 'a', key }).id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('a fingerprint', () => {
  test('is bound to its scope and key, so that a collision of identities is a mismatch', () => {
    const prints = [charge, { ...charge, key: 'k-002' }, { ...charge, scope: 'acct_2' }].map(
      (o) => identify(o).prints[0],
    )
    expect(new Set(prints).size).toBe(3)
  })
  test('keeps its place: the first is what gets written', () => {
    const [first, second] = identify({ ...charge, fingerprints: ['new', 'old'] }).prints
    expect(first).toBe(identify({ ...charge, fingerprints: ['new'] }).prints[0])
    expect(second).toBe(identify({ ...charge, fingerprints: ['old'] }).prints[0])
  })
  test.each([[undefined], [[]], ['body'], [['']], [[7]]])('%j is none', (fingerprints) => {
    const operation = { ...charge, fingerprints } as unknown as Operation
    expect(() => identify(operation)).toThrow(expect.objectContaining({ code: 'INVALID_FINGERPRINT' }))
  })
})

describe('a name that is none is refused before the work', () => {
  const scope = expect.objectContaining({ code: 'INVALID_SCOPE' })
  const key = expect.objectContaining({ code: 'INVALID_KEY' })
  // KanishJebaMathewM/Truxify#2382
  test.each([[undefined], [null], [''], ['\t '], [[]], [['a', undefined]], [['a', '']], [Array(9).fill('a')], [7]])(
    'scope %j',
    (value) => {
      expect(() => identify({ ...charge, scope: value as string })).toThrow(scope)
    },
  )
  // granit-fx/granit-dotnet#1151
  test('a key or a part of one character more than 255', () => {
    const longest = 'x'.repeat(MAX_PART_LENGTH)
    expect(() => identify({ ...charge, key: longest, scope: longest })).not.toThrow()
    expect(() => identify({ ...charge, key: `${longest}x` })).toThrow(key)
    expect(() => identify({ ...charge, scope: `${longest}x` })).toThrow(scope)
  })
  test.each([[undefined], [null], [''], [' '], [7], ['\ud800'], ['a\udc00b']])('key %j', (value) => {
    expect(() => identify({ ...charge, key: value as string })).toThrow(key)
  })
  test('and the error does not repeat it', () => {
    const secret = `sk_live_${'x'.repeat(300)}`
    expect(() => identify({ ...charge, key: secret })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk_live') }),
    )
  })
})

describe('a child key', () => {
  const { id } = identify(charge)
  test('is the same on every attempt, and another for every step, operation and application', () => {
    expect(childKeyOf(id, 'capture')).toBe(childKeyOf(id, 'capture'))
    const other = identify({ ...charge, key: 'k-002' }).id
    const keys = [
      childKeyOf(id, 'capture'),
      childKeyOf(id, 'refund'),
      childKeyOf(other, 'capture'),
      childKeyOf(id, 'capture', 'shop'),
    ]
    expect(new Set(keys).size).toBe(4)
  })
  test('does not depend on fingerprints', () => {
    expect(identify({ ...charge, fingerprints: ['another secret'] }).id).toBe(id)
  })
  test('fits the form that the next system wants', () => {
    expect(childKeyOf(id, 'capture')).toMatch(/^[0-9a-f]{32}$/)
    expect(childKeyOf(id, 'capture', '', { length: 64 })).toMatch(/^[0-9a-f]{64}$/)
    // RFC 9562 §5.8: version 8, variant 10.
    expect(childKeyOf(id, 'capture', '', { as: 'uuid' })).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })
  test.each([[15], [65]])('of %d characters is refused', (length) => {
    expect(() => childKeyOf(id, 'capture', '', { length })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
  test('of a blank step is refused', () => {
    expect(() => childKeyOf(id, ' ')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
