/** S1: the one function that decides which answer a repeat gets. */
import { describe, expect, test } from 'vitest'
import { judge, type KeyRecord, type SeenRecord } from './record.ts'

const prints = ['mine', 'mine under an older secret']

function seen(state: KeyRecord['state'], over: Partial<SeenRecord> = {}): SeenRecord {
  return { kind: 'record', record: { id: 'ab', state }, print: 'mine', over: false, ...over }
}

test('nothing there, or something past its end, stands in nobody’s way, whatever it was bound to', () => {
  expect(judge({ kind: 'absent' }, prints)).toEqual({ kind: 'runnable' })
  for (const state of ['finished', 'open'] as const)
    expect(judge(seen(state, { over: true, print: 'theirs' }), prints)).toEqual({ kind: 'runnable' })
})

describe('a mismatch comes first', () => {
  test.each(['running', 'open', 'finished', 'unknown'] as const)('%s', (state) => {
    expect(judge(seen(state, { print: 'theirs', token: 'me', leaseLeftMs: -1 }), prints, 'me')).toEqual({
      kind: 'mismatch',
    })
  })
})

test('any of the fingerprints is the same request', () => {
  expect(judge(seen('finished', { print: 'mine under an older secret' }), prints).kind).toBe('finished')
})

test('finished answers, also its own owner', () => {
  expect(judge(seen('finished', { token: 'me' }), prints, 'me').kind).toBe('finished')
})

test.each(['running', 'open', 'unknown'] as const)('its own token in %s is a claim that was won', (state) => {
  expect(judge(seen(state, { token: 'me', leaseLeftMs: 5 }), prints, 'me')).toEqual({ kind: 'own' })
  expect(judge(seen(state, { token: 'me', leaseLeftMs: 5 }), prints).kind).not.toBe('own')
})

test('unknown is told, never run', () => {
  expect(judge(seen('unknown'), prints)).toMatchObject({ kind: 'unknown', record: { state: 'unknown' } })
})

describe('a lease', () => {
  const takeover = { onAbandoned: 'takeover' } as const
  test('is honoured to its last millisecond, and the hint is never longer than it, nor than the work has taken so far', () => {
    expect(judge(seen('running', { ...takeover, leaseLeftMs: 1, ageMs: 500 }), prints)).toEqual({
      kind: 'busy',
      ageMs: 500,
      retryAfterMs: 1,
    })
    expect(judge(seen('running', { ...takeover, leaseLeftMs: 9_000, ageMs: 40 }), prints)).toMatchObject({
      retryAfterMs: 40,
    })
  })
  test('that is over at this instant may be taken, where its writer said so', () => {
    expect(judge(seen('running', { ...takeover, leaseLeftMs: 0 }), prints)).toEqual({ kind: 'runnable' })
    expect(judge(seen('running', { onAbandoned: 'hold', leaseLeftMs: 0 }), prints)).toEqual({ kind: 'abandoned' })
  })
  test('of which nothing is known is over, and held', () => {
    expect(judge(seen('running'), prints)).toEqual({ kind: 'abandoned' })
  })
})

test('what the downstream has forgotten is not run again', () => {
  expect(judge(seen('open'), prints)).toEqual({ kind: 'runnable' })
  expect(judge(seen('open', { dedupesOver: true }), prints)).toEqual({ kind: 'abandoned' })
  const running = { onAbandoned: 'takeover', leaseLeftMs: 0, dedupesOver: true } as const
  expect(judge(seen('running', running), prints)).toEqual({ kind: 'abandoned' })
})
