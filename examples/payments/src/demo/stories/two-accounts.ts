// Two accounts happen to use the same key: two operations, and neither sees the other's answer.
import { chargesOnFile, tap } from '../caller.ts'
import { withApi } from '../stage.ts'
import type { Story } from '../story.ts'

export const twoAccounts: Story = {
  title: 'Same key, another account',
  about: 'Two accounts both call their key "order-1".',
  play: (stage) =>
    withApi(stage, { MODE: 'transaction' }, async ({ api }) => {
      const call = { url: api.url, key: 'order-1', body: { amount: 2500, card: 'tok_visa' } }
      const a = await tap(call)
      const b = await tap({ ...call, secret: 'sk_demo_b' })
      const again = await tap({ ...call, secret: 'sk_demo_b' })
      const [ofA, ofB] = [await chargesOnFile(api.url), await chargesOnFile(api.url, 'sk_demo_b')]
      return {
        saw: [
          `account a: ${a.attempts[0]} ${a.id}`,
          `account b: ${b.attempts[0]} ${b.id}`,
          `account b again: ${again.attempts[0]} ${again.id}`,
        ],
        holds: [`table: ${ofA} charge for a, ${ofB} for b`],
        charges: ofA + ofB,
        expected: 2,
      }
    }),
}
