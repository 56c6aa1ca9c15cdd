// A hundred identical requests at once: check-then-insert beside oncekey, on the same kind of database.
import { newKey } from 'oncekey/client'
import { chargesOnFile, tap } from '../caller.ts'
import { launch } from '../launch.ts'
import { withApi } from '../stage.ts'
import type { Bar, Story } from '../story.ts'

const AT_ONCE = 100
const ROUNDS = 3

export const stampede: Story = {
  title: 'A hundred at once',
  about: `${AT_ONCE} identical requests arrive while the first is at work, ${ROUNDS} rounds: check-then-insert, then oncekey.`,
  async play(stage) {
    const naive = await launch('naive', { STORE: await stage.database() })
    const raced: number[] = []
    try {
      for (let round = 0; round < ROUNDS; round++) raced.push(await chargesMade(naive.url))
    } finally {
      await naive[Symbol.asyncDispose]()
    }
    return withApi(stage, { MODE: 'transaction' }, async ({ api }) => {
      const answers = new Map<string, number>()
      const made: number[] = []
      for (let round = 0; round < ROUNDS; round++) made.push(await chargesMade(api.url, answers))
      return {
        saw: [...answers].map(([line, times]) => `${times} × ${line}`),
        holds: [`check-then-insert: ${raced.join(', ')} charges`, `oncekey: ${made.join(', ')} charges`],
        charges: made.reduce((sum, count) => sum + count, 0),
        expected: ROUNDS,
        bars: [...raced.map(barOf('check-then-insert')), ...made.map(barOf('oncekey'))],
      }
    })
  },
}

/** How many charges one round of identical requests made. */
async function chargesMade(url: string, answers = new Map<string, number>()): Promise<number> {
  const before = await chargesOnFile(url)
  // The card makes the work take 600 ms, once for each key: everybody else arrives meanwhile.
  const call = { url, key: newKey(), body: { amount: 2500, card: 'tok_slow' } }
  const seen = await Promise.all(Array.from({ length: AT_ONCE }, () => tap(call)))
  for (const { attempts } of seen) answers.set(attempts[0] as string, (answers.get(attempts[0] as string) ?? 0) + 1)
  return (await chargesOnFile(url)) - before
}

function barOf(label: string): (value: number, round: number) => Bar {
  return (value, round) => ({ label: `${label}, round ${round + 1}`, value, of: AT_ONCE })
}
