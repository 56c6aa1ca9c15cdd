import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOncekeyError } from './errors.ts'
import { fingerprint } from './fingerprint.ts'
import { identify } from './operation.ts'

const OLD = 'old secret of 24 letters'
const NEW = new TextEncoder().encode('new secret of 24 letters')

describe('the fingerprint', () => {
  it('is SHA-256 over algorithm, version and parts, each behind its length in bytes', () => {
    const text = '21:oncekey/fingerprint/16:sha2561:11:24:POST2:é'
    expect(fingerprint(['POST', 'é'])).toEqual([createHash('sha256').update(text).digest('hex')])
  })

  it('is an HMAC where a secret is given, and names that', () => {
    const text = '21:oncekey/fingerprint/111:hmac-sha2561:11:14:POST'
    expect(fingerprint(['POST'], { secrets: [OLD] })).toEqual([createHmac('sha256', OLD).update(text).digest('hex')])
  })

  it('takes bytes and text alike, and bytes that are no text', () => {
    expect(fingerprint([new TextEncoder().encode('é')])).toEqual(fingerprint(['é']))
    expect(fingerprint([new Uint8Array([0xff])])).not.toEqual(fingerprint([new Uint8Array([0xfe])]))
  })

  it('is equal for two lists of parts only if they are the same list', () => {
    const parts = fc.array(fc.string({ unit: fc.constantFrom('1', ':', 'a'), maxLength: 4 }), { maxLength: 4 })
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other)
        expect(fingerprint(one)[0] === fingerprint(other)[0]).toBe(same)
      }),
    )
  })

  it('differs between versions', () => {
    expect(fingerprint(['a'], { version: '2' })).not.toEqual(fingerprint(['a']))
  })

  it('is what an operation takes', () => {
    expect(identify({ scope: 's', key: 'k', fingerprints: fingerprint(['a']) }).prints).toHaveLength(1)
  })
})

describe('a keyring in rotation (I3)', () => {
  it('writes with the first and matches with the rest', () => {
    const before = fingerprint(['a'], { secrets: [OLD] })
    const during = fingerprint(['a'], { secrets: [OLD, NEW] })
    const after = fingerprint(['a'], { secrets: [NEW, OLD] })
    expect(during[0]).toBe(before[0])
    expect(after).toEqual([during[1], during[0]])
  })

  it('can begin with no secret, and end with none', () => {
    expect(fingerprint(['a'], { secrets: [NEW, null] })[1]).toBe(fingerprint(['a'])[0])
    expect(fingerprint(['a'], { secrets: [null, NEW] })[0]).toBe(fingerprint(['a'])[0])
  })

  it.each([[[]], [['']], [['fifteen letters']], [[NEW, new Uint8Array(15)]]])(
    'is refused where it protects nothing',
    (secrets) => {
      try {
        fingerprint(['a'], { secrets })
        expect.unreachable()
      } catch (error) {
        expect(isOncekeyError(error, 'INVALID_OPTION')).toBe(true)
        expect((error as Error).message).not.toContain('fifteen')
      }
    },
  )
})
