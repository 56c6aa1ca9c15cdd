// What was measured, as tables for people and as JSON for machines, each ratio beside what is asked of it.
import type { Measured } from './measure.ts'

export interface Finding {
  readonly what: string
  readonly value: number
  /** What it must keep, and what it aims at; absent where a figure is only told. */
  readonly must?: number
  readonly aim?: number
  /** Default `most`: smaller is better. `exact` is no matter of speed: anything else is a fault. */
  readonly bound?: Bound
  readonly note?: string
}
type Bound = 'most' | 'least' | 'exact'
export interface Section {
  readonly title: string
  readonly rows: readonly Readonly<Record<string, string | number>>[]
  readonly findings: readonly Finding[]
}
export type Verdict = 'aim reached' | 'kept' | 'MISSED' | ''

export function rowsOf(measured: readonly Measured[]): Section['rows'] {
  return measured.map(({ name, p50, p99, perSecond, ratio }) => ({
    contender: name,
    'p50 ms': p50.toFixed(3),
    'p99 ms': p99.toFixed(3),
    'per s': Math.round(perSecond),
    ratio: ratio.median.toFixed(2),
    quartiles: `${ratio.low.toFixed(2)}-${ratio.high.toFixed(2)}`,
  }))
}

/** `name` to the base, or to `to`, and what is asked of that. */
export function ratio(
  measured: readonly Pick<Measured, 'name' | 'to'>[],
  { name, to, ...finding }: Omit<Finding, 'value' | 'what'> & { readonly name: string; readonly to?: string },
): Finding {
  const one = measured.find((candidate) => candidate.name === name)
  const base = to ?? measured[0]?.name ?? ''
  return { what: `${name} / ${base}`, value: one?.to(base) ?? Number.NaN, ...finding }
}

export function verdictOf({ value, must, aim, bound = 'most' }: Finding): Verdict {
  const keeps = (limit: number | undefined) =>
    limit !== undefined && (bound === 'exact' ? value === limit : bound === 'most' ? value <= limit : value >= limit)
  if (must === undefined) return ''
  if (!keeps(must)) return 'MISSED'
  return keeps(aim) ? 'aim reached' : 'kept'
}

export function print({ title, rows, findings }: Section): void {
  console.log(`\n${title}`)
  if (rows.length > 0) table(rows)
  printFindings(findings)
}

export function printFindings(findings: readonly Finding[]): void {
  if (findings.length === 0) return
  table(
    findings.map((finding) => {
      const { what, value, must, aim, bound = 'most', note = '' } = finding
      const sign = { most: '≤', least: '≥', exact: '=' }[bound]
      const asked = (limit: number | undefined) => (limit === undefined ? '' : `${sign} ${limit}`)
      const row = { what, value: rounded(value), must: asked(must), aim: asked(aim), verdict: verdictOf(finding), note }
      return row
    }),
  )
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)
}

function table(rows: Section['rows']): void {
  const columns = Object.keys(rows[0] ?? {})
  const text = (row: Section['rows'][number], column: string) => String(row[column] ?? '')
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => text(row, column).length)))
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')}`
  console.log(line(columns))
  for (const row of rows) console.log(line(columns.map((column) => text(row, column))))
}
