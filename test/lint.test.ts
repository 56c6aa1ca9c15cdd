// Format, lint and types are part of `npm test`: one command proves everything.
import { expect, it } from 'vitest'
import { checks } from '../scripts/checks.mjs'
import { node } from './support/command.ts'

const minutes = 60_000

it.each(Object.entries(checks))(
  '%s: nothing to report',
  async (_name, args) => {
    const { code, output } = await node(args)
    expect(code, output).toBe(0)
  },
  2 * minutes,
)

it('the linters saw the sources, so that their silence means something', async () => {
  const { output: formatted } = await node(checks.format)
  expect(Number(/Checked (\d+) files/.exec(formatted)?.[1])).toBeGreaterThan(30)
  const { output: linted } = await node(checks.lint)
  expect(Number(/on (\d+) files/.exec(linted)?.[1])).toBeGreaterThan(30)
  const { stdout: typed } = await node([...checks.types, '--listFilesOnly'])
  expect(
    typed.split('\n').filter((path) => /(packages\/oncekey\/src|test|scripts)\//.test(path)).length,
  ).toBeGreaterThan(30)
})
