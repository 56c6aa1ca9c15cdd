// A missing service is said aloud and skipped on a developer's machine, and is a failure in CI: green must not mean empty.
import { describe, type SuiteAPI } from 'vitest'

type Describe = SuiteAPI | SuiteAPI['skip']

export function describeWith(variable: string): Describe {
  if (found(variable) !== undefined) return describe
  const reason = process.env[`${variable}_MISSING`] ?? `${variable} is not set`
  if (process.env.CI === 'true') throw new Error(`CI=true and a service is missing: ${reason}`)
  console.warn(`skipped: ${reason}`)
  return describe.skip
}

export function serviceUrl(variable: string): string {
  const url = found(variable)
  if (url === undefined) throw new Error(`${variable} is not set: use this inside the matching describe`)
  return url
}

function found(variable: string): string | undefined {
  const url = process.env[variable]
  return url === '' ? undefined : url
}
