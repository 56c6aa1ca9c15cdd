// Waiting is bounded: per key, per process, and by what the client asks for.
import { describe, expect, it } from 'vitest'
import { preferredWaitMs, takePlace } from './waiting.ts'

describe('a duplicate that prefers to wait', () => {
  it('says so in seconds (RFC 7240 §4.3)', () => {
    for (const [prefer, ms] of [
      ['wait=10', 10_000],
      ['respond-async, wait=5', 5_000],
      ['wait="3"', 3_000],
      ['await=5', 0],
      ['wait=', 0],
      ['wait=-1', 0],
      ['wait=1.5', 0],
      [undefined, 0],
    ] as const)
      expect(preferredWaitMs(prefer)).toBe(ms)
  })

  it('finds 16 places for its key, and a place that is given back once', () => {
    const places = Array.from({ length: 16 }, () => takePlace('one'))
    expect(takePlace('one')).toBeUndefined()
    expect(takePlace('other')).toBeDefined()
    places[0]?.()
    places[0]?.()
    expect(takePlace('one')).toBeDefined()
    expect(takePlace('one')).toBeUndefined()
  })

  it('finds 1,024 places in a process', () => {
    const places = Array.from({ length: 2_000 }, (_, at) => takePlace(`key-${at}`)).filter(Boolean)
    expect(places.length).toBeLessThanOrEqual(1_024)
    for (const giveBack of places) giveBack?.()
    expect(takePlace('after')).toBeDefined()
  })
})
