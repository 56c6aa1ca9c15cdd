/** A policy is filled in from the route, what follows a failure, the store and the defaults, in that order. */
import { expect, test } from 'vitest'
import { DEFAULTS, databaseOnly, downstreamDedupes, downstreamDoesNot, fillPolicy } from './policy.ts'

const store = { onFailure: 'free', onAbandoned: 'takeover', retainMs: 5_000, workMs: 6_000, leaseMs: 7_000 } as const

test('with nothing said the outcome of a failure is unknown, never free', () => {
  expect(fillPolicy({}, {})).toEqual({
    onFailure: 'hold',
    onAbandoned: 'hold',
    retainMs: DEFAULTS.retainMs,
    workMs: DEFAULTS.workMs,
    leaseMs: DEFAULTS.leaseMs,
    rerunnable: false,
    discardable: false,
  })
})

test("the store's own choices win over the defaults", () => {
  expect(fillPolicy({}, store)).toMatchObject(store)
})

test("the route's choices win over the store's", () => {
  const route = { retain: '1h', work: '2s', lease: 3, after: downstreamDoesNot, rerunnable: true } as const
  expect(fillPolicy(route, { ...store, dedupesForMs: 9 })).toEqual({
    onFailure: 'hold',
    onAbandoned: 'hold',
    retainMs: 3_600_000,
    workMs: 2_000,
    leaseMs: 3,
    rerunnable: true,
    discardable: false,
  })
})

test('the three named choices are what they are called', () => {
  expect(fillPolicy({ after: downstreamDedupes({ for: '24h' }) }, {})).toMatchObject({
    onFailure: 'retry',
    onAbandoned: 'takeover',
    dedupesForMs: 86_400_000,
  })
  expect(fillPolicy({ after: databaseOnly }, {})).toMatchObject({ onFailure: 'free', onAbandoned: 'takeover' })
  expect(fillPolicy({ after: downstreamDoesNot }, {})).toMatchObject({ onFailure: 'hold', onAbandoned: 'hold' })
})

test.each(['retain', 'work', 'lease'] as const)('a %s of nothing is refused', (name) => {
  expect(() => fillPolicy({ [name]: 0 }, {})).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  expect(() => fillPolicy({ [name]: 'soon' as '1s' }, {})).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})
