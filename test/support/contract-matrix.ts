// What a run showed of the store contract: a line for each rule, a column for each store and library, and why something was skipped.
import type { TestModule, TestSuite } from 'vitest/node'

const SUITE = /^the store contract(?:: (.+))?$/
const SKIPPED = / \[skipped: (.+)\]$/
const TITLE_WIDTH = 84
const NAMES = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789αβγδεζηθκλμξπρστφχψωΓΔΘΛΞΠΣΦΨΩ'

interface Cell {
  readonly mark: '✓' | '–' | '✗'
  readonly reason?: string
}
interface Column {
  readonly name: string
  readonly cells: ReadonlyMap<string, Cell>
}

/** Nothing where no contract was run. */
export function contractMatrix(modules: readonly TestModule[]): readonly string[] {
  const columns = modules
    .flatMap((module) => [...module.children.allSuites()])
    .filter((suite) => SUITE.test(suite.name))
    .map(columnOf)
    .sort((a, b) => a.name.localeCompare(b.name))
  if (columns.length === 0) return []
  const rules = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))]
  const letter = (at: number): string => NAMES[at] ?? '?'
  const margin = ' '.repeat(TITLE_WIDTH + 1)
  return [
    '',
    `The store contract: ${rules.length} rules on ${columns.length} stores and ways to reach them (✓ shown, – skipped, ✗ broken)`,
    ...columns.map(({ name, cells }, at) => `  ${letter(at)}  ${name}: ${countsOf(cells)}`),
    `${margin}${columns.map((_, at) => letter(at)).join('')}`,
    ...rules.map((rule) => `${cut(rule)} ${columns.map(({ cells }) => cells.get(rule)?.mark ?? ' ').join('')}`),
    'Skipped, and why:',
    ...reasons(columns, letter),
    '',
  ]
}

function columnOf(suite: TestSuite): Column {
  const cells = new Map<string, Cell>()
  for (const test of suite.children.allTests()) {
    const reason = SKIPPED.exec(test.name)?.[1]
    const { state } = test.result()
    const mark = state === 'passed' ? '✓' : state === 'failed' ? '✗' : '–'
    cells.set(test.name.replace(SKIPPED, ''), reason === undefined ? { mark } : { mark, reason })
  }
  return { name: SUITE.exec(suite.name)?.[1] ?? suite.fullName, cells }
}

function countsOf(cells: Column['cells']): string {
  const marks = [...cells.values()].map(({ mark }) => mark)
  const count = (wanted: Cell['mark']): number => marks.filter((mark) => mark === wanted).length
  const broken = count('✗')
  return `${count('✓')} shown, ${count('–')} skipped${broken === 0 ? '' : `, ${broken} BROKEN`}`
}

function cut(rule: string): string {
  return rule.length > TITLE_WIDTH ? `${rule.slice(0, TITLE_WIDTH - 1)}…` : rule.padEnd(TITLE_WIDTH)
}

/** One line for each reason: what was skipped for it where. */
function reasons(columns: readonly Column[], letter: (at: number) => string): readonly string[] {
  const found = new Map<string, Map<number, number>>()
  for (const [at, { cells }] of columns.entries())
    for (const { mark, reason = 'its suite did not run' } of cells.values()) {
      if (mark !== '–') continue
      const where = found.get(reason) ?? new Map<number, number>()
      found.set(reason, where.set(at, (where.get(at) ?? 0) + 1))
    }
  return [...found].map(([reason, where]) => {
    const list = [...where].map(([at, count]) => `${letter(at)} ${count}`).join(', ')
    return `  ${reason}: ${list}`
  })
}
