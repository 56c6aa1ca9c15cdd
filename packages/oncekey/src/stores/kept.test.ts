import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readKept, readTombstone, writeKept } from './kept.ts'

const bytes = fc.uint8Array({ maxLength: 300 })

describe('the body of a kept record', () => {
  it('is the receipt and nothing else where no tombstone is wanted', () => {
    const receipt = Uint8Array.of(1, 2, 0, 3)
    expect(writeKept({ receipt })).toEqual(receipt)
  })
  it('gives any receipt back as it was, with and without a tombstone', () => {
    fc.assert(
      fc.property(bytes, fc.option(bytes, { nil: undefined }), fc.boolean(), (receipt, head, tombstone) => {
        const read = readKept(writeKept({ receipt, ...(head ? { head } : {}) }, tombstone))
        expect(Buffer.from(read.receipt)).toEqual(Buffer.from(receipt))
        expect(read.tombstone === undefined).toBe(!tombstone)
        if (tombstone) expect(readTombstone(read.tombstone)).toEqual({ why: 'expired', ...(head ? { head } : {}) })
      }),
    )
  })
  it('takes a receipt that begins like a tombstone for a receipt', () => {
    const receipt = writeKept({ receipt: Uint8Array.of(7), head: Uint8Array.of(9) }, true)
    expect(readKept(writeKept({ receipt }))).toEqual({ receipt })
  })
  it('hands on what it does not understand', () => {
    expect(readKept(Uint8Array.of(0, 1, 2))).toEqual({ receipt: Uint8Array.of(0, 1, 2) })
    expect(readKept(new Uint8Array())).toEqual({ receipt: new Uint8Array() })
  })
})
