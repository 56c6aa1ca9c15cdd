// The last line of a run is its tally, alone on a line, so that a machine can read it; before it stand the tests that needed a second try.

import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { contractMatrix } from './contract-matrix.ts'

export interface Tally {
  passed: number
  failed: number
  skipped: number
}

export interface ClosingOptions {
  /** Which rules of the store contract were shown on which store stands before the tally. */
  readonly matrix?: boolean
}

/** Prints at the very end: coverage and other reports come after a reporter's own last word. */
export function closingLine({ matrix = false }: ClosingOptions = {}): Reporter {
  let lines: readonly string[] = []
  process.once('exit', function sayTally() {
    for (const line of lines) console.log(line)
  })
  return {
    onTestRunEnd(modules, unhandledErrors) {
      lines = [
        ...(matrix ? contractMatrix(modules) : []),
        ...secondTries(modules),
        format(tallyOf(modules, unhandledErrors.length)),
      ]
    },
  }
}

/** The default reporter keeps quiet about a test that passed quickly, also at its second try. */
function secondTries(modules: readonly TestModule[]): readonly string[] {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  return tests.filter((test) => test.diagnostic()?.flaky).map((test) => `needed a second try: ${test.fullName}`)
}

export function format({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

/** A file or suite that could not run counts as one failure, and so does an error that belongs to no test. */
export function tallyOf(modules: readonly TestModule[], unhandled: number): Tally {
  const tally: Tally = { passed: 0, failed: unhandled, skipped: 0 }
  for (const module of modules) {
    count(tally, module)
    for (const suite of module.children.allSuites()) count(tally, suite)
    for (const test of module.children.allTests()) count(tally, test)
  }
  return tally
}

function count(tally: Tally, part: TestModule | TestSuite | TestCase): void {
  if (part.type !== 'test') {
    if (part.errors().length > 0) tally.failed += 1
    return
  }
  const { state } = part.result()
  if (state === 'passed') tally.passed += 1
  else if (state === 'failed') tally.failed += 1
  else tally.skipped += 1
}
