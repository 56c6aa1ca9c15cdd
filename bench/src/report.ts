// What was measured, as a table for people and as JSON for machines, each ratio beside what is asked of it.
import type { Measured } from './measure.ts'

export interface Finding {
  readonly what: string
  readonly value: number
  /** What the ratio must keep, and what it aims at; absent where a figure is only told. */
  readonly must?: number
  readonly aim?: number
  /** Default `most`: smaller is better. */
  readonly bound?: 'most' | 'least'
  readonly note?: string
}
export interface Section {
  readonly title: string
  readonly rows: readonly Readonly<Record<string, string | number>>[]
  readonly findings: readonly Finding[]
}

export function rowsOf(measured: readonly Measured[]): Section['rows'] {
  return measured.map(({ name, p50, p99, perSecond, ratio }) => ({
    contender: name,
    'p50 ms': p50.toFixed(3),
    'p99 ms': p99.toFixed(3),
    'ops/s': Math.round(perSecond),
    ratio: ratio.median.toFixed(2),
    quartiles: `${ratio.low.toFixed(2)}-${ratio.high.toFixed(2)}`,
  }))
}

export function ratioOf(measured: readonly Measured[], name: string): number {
  return measured.find((one) => one.name === name)?.ratio.median ?? Number.NaN
}

/** One contender to another where neither is the base: the ratio of their ratios. */
export function between(measured: readonly Measured[], name: string, base: string): number {
  return ratioOf(measured, name) / ratioOf(measured, base)
}

export function verdictOf({ value, must, aim, bound = 'most' }: Finding): string {
  const keeps = (limit: number | undefined) =>
    limit !== undefined && (bound === 'most' ? value <= limit : value >= limit)
  if (must === undefined) return ''
  return keeps(aim) ? 'aim reached' : keeps(must) ? 'kept' : 'MISSED'
}

export function print({ title, rows, findings }: Section): void {
  console.log(`\n${title}`)
  if (rows.length > 0) table(rows)
  for (const finding of findings) {
    const { what, value, must, aim, bound = 'most', note } = finding
    const sign = bound === 'most' ? '≤' : '≥'
    const asked = must === undefined ? '' : `  must ${sign} ${must}${aim === undefined ? '' : `, aim ${sign} ${aim}`}`
    console.log(`  ${what}: ${value.toFixed(2)}${asked}  ${verdictOf(finding)}${note ? `  (${note})` : ''}`)
  }
}

function table(rows: Section['rows']): void {
  const columns = Object.keys(rows[0] ?? {})
  const width = columns.map((column) => Math.max(column.length, ...rows.map((row) => String(row[column]).length)))
  const line = (cells: readonly unknown[]) =>
    `  ${cells.map((cell, at) => (at === 0 ? String(cell).padEnd(width[at] ?? 0) : String(cell).padStart(width[at] ?? 0))).join('  ')}`
  console.log(line(columns))
  for (const row of rows) console.log(line(columns.map((column) => row[column])))
}
