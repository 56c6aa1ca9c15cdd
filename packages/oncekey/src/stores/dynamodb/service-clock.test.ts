/** S4: the service's time by way of its `Date` headers, whatever this machine's own clock says. */
import { expect, it } from 'vitest'
import { serviceClock } from './service-clock.ts'

/** A service whose time is true, and a caller whose wall clock is `off` by so much. */
function caller(off: number) {
  let steady = 5_000
  const truth = () => 1_700_000_000_400 + steady
  let wallOff = off
  const clock = serviceClock(
    () => truth() + wallOff,
    () => steady,
  )
  return {
    clock,
    pass(ms: number) {
      steady += ms
    },
    setWall(ms: number) {
      wallOff = ms
    },
    /** One call that takes `ms` each way; the header has whole seconds. */
    call(ms = 5) {
      const sentAt = steady
      steady += ms
      const date = new Date(truth()).toUTCString()
      steady += ms
      clock.heard(date, sentAt, steady)
    },
    error: () => clock.now() - truth(),
  }
}

it('a clock that is right is left alone', () => {
  const { call, pass, error } = caller(0)
  expect(error()).toBe(0)
  for (let n = 0; n < 50; n++) {
    call()
    expect(error()).toBe(0)
    pass(173)
  }
})

it.each([-86_400_000, -30_000, -1_500, 1_500, 30_000, 86_400_000])(
  'a clock that is %d ms off is corrected to within a second by one answer, and closely by many',
  (off) => {
    const { call, pass, error } = caller(off)
    expect(error()).toBe(off)
    call()
    expect(Math.abs(error())).toBeLessThanOrEqual(1_010)
    for (let n = 0; n < 200; n++) {
      pass(137)
      call()
    }
    expect(Math.abs(error())).toBeLessThanOrEqual(60)
  },
)

it('a clock that is set while the process runs moves nothing by more than the headers leave open', () => {
  const { call, pass, setWall, error } = caller(0)
  for (let n = 0; n < 200; n++) {
    pass(137)
    call()
  }
  setWall(3_600_000)
  expect(error()).toBeLessThanOrEqual(60)
  setWall(-3_600_000)
  expect(error()).toBeGreaterThanOrEqual(-60)
})

it('a service whose own clock was set is followed', () => {
  const clock = serviceClock(
    () => 1_700_000_000_000,
    () => 0,
  )
  clock.heard('Tue, 14 Nov 2023 22:13:20 GMT', 0, 0)
  clock.heard('Tue, 14 Nov 2023 23:13:20 GMT', 0, 0)
  expect(clock.now()).toBeGreaterThanOrEqual(Date.parse('Tue, 14 Nov 2023 23:13:20 GMT'))
})

it.each([[undefined], ['soon'], ['']])('a header that says nothing (%s) changes nothing', (date) => {
  const clock = serviceClock(
    () => 42,
    () => 0,
  )
  clock.heard(date, 0, 10)
  expect(clock.now()).toBe(42)
})
