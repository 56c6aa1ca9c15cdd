// The demo as the README calls it, on both databases, for machines: every story ends with the right number of charges.
import { expect, it } from 'vitest'
import { node } from '../../../test/support/command.ts'
import { describePostgres, postgresUrl } from '../../../test/support/postgres.ts'

interface Told {
  readonly wrong: number
  readonly stories: readonly { readonly title: string; readonly charges: number; readonly expected: number }[]
}

async function play(store: string): Promise<Told> {
  const { code, stdout, output } = await node(['examples/payments/dist/demo.js', '--json', '--store', store])
  expect(code, output).toBe(0)
  return JSON.parse(stdout) as Told
}

describePostgres('the demo', () => {
  it.each(['sqlite', 'postgres'])('on %s', { timeout: 240_000 }, async (kind) => {
    const { wrong, stories } = await play(kind === 'sqlite' ? kind : postgresUrl())
    expect(wrong).toBe(0)
    expect(stories).toHaveLength(9)
    for (const { charges, expected, title } of stories) expect(charges, title).toBe(expected)
  })
})
