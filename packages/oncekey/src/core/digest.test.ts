import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hex, hmacSha256, lengthPrefixed, sha256 } from './digest.ts'

describe('a list of parts as one byte string', () => {
  it('is each part behind its length in bytes, texts and bytes alike', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '1', ':', '\0', '\x7f', '\x80', 'é', '😀', '\ud800') })
    const part = fc.oneof(text, fc.uint8Array())
    fc.assert(
      fc.property(text, fc.array(part), (domain, parts) => {
        const expected = [domain, ...parts].flatMap((each) => {
          const bytes = Buffer.from(each)
          return [Buffer.from(`${bytes.length}:`), bytes]
        })
        expect(hex(lengthPrefixed(domain, parts))).toBe(Buffer.concat(expected).toString('hex'))
      }),
    )
  })

  it('takes no two lists for one', () => {
    expect(lengthPrefixed('d', ['1:a', ''])).not.toEqual(lengthPrefixed('d', ['1', 'a']))
    expect(lengthPrefixed('d', ['é'])).not.toEqual(lengthPrefixed('d', ['Ã©']))
  })
})

describe('digests', () => {
  it('are those of Node', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array({ minLength: 1 }), (bytes, secret) => {
        expect(hex(sha256(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'))
        expect(hex(hmacSha256(secret, bytes))).toBe(createHmac('sha256', secret).update(bytes).digest('hex'))
      }),
    )
  })
})
