/** Errors say four things, and are known for ours also when another copy of the package made them. */
import { expect, test } from 'vitest'
import { isOncekeyError, OncekeyError } from './errors.ts'

const parts = { what: 'The key is missing.', where: 'POST /charges', why: 'Nothing protects it.', fix: 'Send one.' }

test('an error carries its code, its four parts and its cause', () => {
  const cause = new Error('socket hang up')
  const error = new OncekeyError('MISSING_KEY', { ...parts, cause, details: { limit: 255 } })
  expect(error).toMatchObject({ name: 'OncekeyError', code: 'MISSING_KEY', ...parts, cause, details: { limit: 255 } })
  for (const part of Object.values(parts)) expect(error.message).toContain(part)
  expect(error.message).toContain('MISSING_KEY')
})

test('without a cause there is none, not an undefined one', () => {
  expect('cause' in new OncekeyError('MISSING_KEY', parts)).toBe(false)
})

test('an error of another copy of the package is ours', () => {
  const stranger = Object.assign(new Error('from another copy'), {
    code: 'IN_PROGRESS',
    [Symbol.for('oncekey.error')]: true,
  })
  expect(stranger instanceof OncekeyError).toBe(false)
  expect(isOncekeyError(stranger)).toBe(true)
  expect(isOncekeyError(stranger, 'IN_PROGRESS')).toBe(true)
  expect(isOncekeyError(stranger, 'KEY_REUSED')).toBe(false)
})

test.each([[undefined], [null], ['IN_PROGRESS'], [{ code: 'IN_PROGRESS' }], [new Error('IN_PROGRESS')]])(
  '%o is not ours',
  (other) => {
    expect(isOncekeyError(other)).toBe(false)
  },
)
