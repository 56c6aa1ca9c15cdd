// The benchmark itself keeps running: a smoke run of every section, from the command that people use, on the build of this checkout.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { node, temporaryFolder } from '../../test/support/command.ts'
import { describePostgres, postgresUrl } from '../../test/support/postgres.ts'
import { SECTIONS } from './settings.ts'

const minutes = 60_000

interface Result {
  readonly sections: readonly { readonly title: string; readonly findings: readonly Found[] }[]
}
interface Found {
  readonly what: string
  readonly value: number | null
  readonly must?: number
  readonly verdict: string
}

describePostgres('npm run bench -- --quick', () => {
  it(
    'runs every section, and each ratio that is asked for is a number with its verdict',
    async () => {
      const json = join(temporaryFolder(), 'result.json')
      const args = ['scripts/bench.mjs', '--quick', '--store', postgresUrl(), '--json', json]
      const { code, output } = await node(args)
      expect(code, output).toBe(0)
      const { sections } = JSON.parse(readFileSync(json, 'utf8')) as Result
      expect(sections.length).toBeGreaterThan(SECTIONS.length)
      const findings = sections.flatMap((section) => section.findings)
      expect(findings.filter(({ value }) => !(typeof value === 'number' && value > 0))).toEqual([])
      const judged = findings.filter(({ must }) => must !== undefined)
      expect(judged.length).toBeGreaterThan(20)
      expect(judged.filter(({ verdict }) => !['aim reached', 'kept', 'MISSED'].includes(verdict))).toEqual([])
    },
    10 * minutes,
  )

  it(
    'with --only runs that section alone, and ends its output with the result as one line of JSON',
    async () => {
      const { code, stdout, output } = await node(['scripts/bench.mjs', '--quick', '--only', 'sqlite', '--rounds', '1'])
      expect(code, output).toBe(0)
      const { sections } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Result
      expect(sections.map(({ title }) => title.split(',')[0])).toEqual(['SQLite', 'SQLite', 'SQLite', 'SQLite'])
    },
    10 * minutes,
  )
})
