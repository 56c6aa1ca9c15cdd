// The last line of a run is its tally, alone on a line, so that a machine can read it.
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

export interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** Prints at the very end: coverage and other reports come after a reporter's own last word. */
export function closingLine(print: (line: string) => void = console.log): Reporter {
  let line: string | undefined
  process.once('exit', function sayTally() {
    if (line !== undefined) print(line)
  })
  return {
    onTestRunEnd(modules, unhandledErrors) {
      line = format(tallyOf(modules, unhandledErrors.length))
    },
  }
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
