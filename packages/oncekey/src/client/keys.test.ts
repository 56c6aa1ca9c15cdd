import { describe, expect, it } from 'vitest'
import { keyFor, newKey } from './keys.ts'

describe('a key for a business action', () => {
  it('is the same for the same action on the same things, in another process and release', () => {
    expect(keyFor('charge order', 42)).toBe(keyFor('charge order', '42'))
    expect(keyFor('charge order', 42n)).toBe(keyFor('charge order', 42))
    // Written down once: a release that changed it would charge every order in flight again.
    expect(keyFor('charge order', 42)).toBe('abe7fcd16d9143685fd3ff56a65cd519')
  })

  it('tells apart what a separator would glue together (triggerdotdev/trigger.dev#3752)', () => {
    expect(keyFor('pay', 'a:b', 'c')).not.toBe(keyFor('pay', 'a', 'b:c'))
    expect(keyFor('pay', 'ab')).not.toBe(keyFor('pay', 'a', 'b'))
    expect(keyFor('pay:a', 'b')).not.toBe(keyFor('pay', 'a', 'b'))
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['a fraction', 1.5],
    ['a number past 2^53', 2 ** 53],
    ['a blank text', '  '],
    ['an object', {}],
    ['a lone surrogate', '\ud800'],
  ])('refuses %s as an id (aws-powertools/powertools-lambda-python#2465)', (_, id) => {
    expect(() => keyFor('pay', id as never)).toThrowError(/not usable in a key/)
  })

  it('refuses an action without a name or without ids', () => {
    expect(() => keyFor('', 1)).toThrowError(/action/)
    expect(() => (keyFor as (action: string) => string)('pay')).toThrowError(/list of ids/)
  })
})

describe('a new key', () => {
  it('is a UUIDv7, so that keys made later sort later', async () => {
    const first = newKey()
    await new Promise((resolve) => setTimeout(resolve, 3))
    const second = newKey()
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(first < second).toBe(true)
  })
})
