// What the benchmark is told is taken as it is meant, or refused before anything is started.
import { expect, it } from 'vitest'
import { SECTIONS, settingsFrom } from './settings.ts'

it('measures everything in eight rounds unless it is told otherwise', () => {
  expect(settingsFrom([], {})).toEqual({
    postgres: undefined,
    redis: undefined,
    only: SECTIONS,
    rounds: 8,
    quick: false,
    json: undefined,
  })
})

it('takes the server of the environment, and the flag over it', () => {
  const env = { ONCEKEY_TEST_POSTGRES: 'postgres://a/b' }
  expect(settingsFrom([], env).postgres).toBe('postgres://a/b')
  expect(settingsFrom(['--store', 'postgres://c/d'], env).postgres).toBe('postgres://c/d')
})

it.each([['--only', 'postgers'], ['--rounds', '0'], ['--rounds', 'many'], ['--fast']])('refuses %s %s', (...args) => {
  expect(() => settingsFrom(args, {})).toThrow(TypeError)
})
