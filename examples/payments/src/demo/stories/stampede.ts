// A hundred identical requests at once: check-then-insert beside oncekey, on the same kind of database.
import { newKey } from 'oncekey/client'
import { chargesOnFile, tap } from '../caller.ts'
import { startNaive } from '../naive.ts'
import { withApi } from '../stage.ts'
import type { Bar, Story } from '../story.ts'

const AT_ONCE = 100
const ROUNDS = 3

export const stampede: Story = {
  title: 'A hundred at once',
  about: `${AT_ONCE} identical requests arrive together, ${ROUNDS} rounds: check-then-insert, then oncekey.`,
  async play(stage) {
    const naive = await startNaive(await stage.database(), stage.kind)
    const naiveCounts: number[] = []
    try {
      for (let round = 0; round < ROUNDS; round++) naiveCounts.push(await charges(naive.url, () => naive.count()))
    } finally {
      await naive[Symbol.asyncDispose]()
    }
    return withApi(stage, { MODE: 'transaction' }, async ({ api }) => {
      const answers = new Map<string, number>()
      const counts: number[] = []
      for (let round = 0; round < ROUNDS; round++)
        counts.push(await charges(api.url, () => chargesOnFile(api.url), answers))
      const bar =
        (label: string) =>
        (value: number, round: number): Bar => ({ label: `${label}, round ${round + 1}`, value, of: AT_ONCE })
      return {
        saw: [...answers].map(([line, times]) => `${times} × ${line}`),
        holds: [
          `check-then-insert: ${naiveCounts.join(', ')} charges`,
          `oncekey: ${counts.join(', ')} charge each round`,
        ],
        charges: counts.reduce((sum, count) => sum + count, 0),
        expected: ROUNDS,
        bars: [...naiveCounts.map(bar('check-then-insert')), ...counts.map(bar('oncekey'))],
      }
    })
  },
}

/** How many charges one round of identical requests made. */
async function charges(
  url: string,
  count: () => Promise<number>,
  answers = new Map<string, number>(),
): Promise<number> {
  const before = await count()
  const call = { url, key: newKey(), body: { amount: 2500, card: 'tok_visa' } }
  const seen = await Promise.all(Array.from({ length: AT_ONCE }, () => tap(call)))
  for (const { attempts } of seen) answers.set(attempts[0] as string, (answers.get(attempts[0] as string) ?? 0) + 1)
  return (await count()) - before
}
