/** Durations mean what their author thought, or are refused. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Duration, milliseconds, monotonic, sleep } from './clock.ts'

test.each([
  [250, 250],
  [0, 0],
  [1.4, 1],
  ['250ms', 250],
  ['30s', 30_000],
  ['5m', 300_000],
  ['1.5h', 5_400_000],
  ['30d', 2_592_000_000],
] as const)('%s is %d ms', (written, ms) => {
  expect(milliseconds(written, 'lease')).toBe(ms)
})

test.each([
  ['30'],
  ['30 s'],
  ['-1s'],
  ['1e3s'],
  ['s'],
  [''],
  [-1],
  [Number.NaN],
  [Number.POSITIVE_INFINITY],
  [null],
  [undefined],
  [true],
])('%j is refused, and the error names the option', (written) => {
  expect(() => milliseconds(written as Duration, 'lease')).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', where: 'lease' }),
  )
})

test('a number of any unit is that many of it', () => {
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.constantFrom('ms', 's', 'm', 'h', 'd' as const), (n, unit) => {
      expect(milliseconds(`${n}${unit}`, 'retain')).toBe(n * units[unit])
    }),
  )
})

test('sleep ends early when its signal aborts, and leaves no listener behind', async () => {
  const waking = new AbortController()
  const started = monotonic()
  const slept = sleep(60_000, waking.signal)
  waking.abort()
  await slept
  await sleep(60_000, waking.signal)
  expect(monotonic() - started).toBeLessThan(30_000)
})

test('the monotonic clock pays no heed to the date', () => {
  const { now } = Date
  const before = monotonic()
  Date.now = () => 0
  try {
    expect(monotonic()).toBeGreaterThanOrEqual(before)
  } finally {
    Date.now = now
  }
})
