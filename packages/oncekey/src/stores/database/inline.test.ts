/** T6: a flight of several statements carries only what the library made. */
import { expect, it } from 'vitest'
import { inline } from './inline.ts'

const written = (...params: Parameters<typeof inline>[0]['params']) => inline({ text: 'select $1', params })

it.each([
  ['a digest', '0123abcdef', "select '0123abcdef'"],
  ['a uuid', '0b1e8f4a-1c2d-4e3f-8a9b-0c1d2e3f4a5b', "select '0b1e8f4a-1c2d-4e3f-8a9b-0c1d2e3f4a5b'"],
  ['a number', -42, "select '-42'"],
  ['a bigint', 9_223_372_036_854_775_807n, "select '9223372036854775807'"],
  ['null', null, 'select null'],
])('writes %s', (_, value, sql) => expect(written(value)).toBe(sql))

it('writes bytes without a backslash, whatever they are', () => {
  const bytes = new Uint8Array([1, 39, 92, 0, 255]).subarray(1)
  expect(written(bytes)).toBe("select pg_catalog.decode('275c00ff', 'hex')")
})

it.each(["'; drop table charge; --", 'charge', "1' or '1", '\\', 'ä', '', ' 1', '1\n'])(
  'refuses the text %j',
  (text) => {
    expect(() => written(text)).toThrow(TypeError)
  },
)

it.each([Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2 ** 53])('refuses the number %d', (value) => {
  expect(() => written(value)).toThrow(TypeError)
})

it('refuses a parameter that is not there', () => {
  expect(() => inline({ text: 'select $2', params: [1] })).toThrow(TypeError)
})

it('leaves what is quoted alone, and tells $1 from $10', () => {
  const params = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  expect(inline({ text: `select '$1 it''s', $10, $1 from "a$1 ""$2"`, params })).toBe(
    `select '$1 it''s', '10', '1' from "a$1 ""$2"`,
  )
})
