// A key is used for another request: a bug in the caller, and it must be loud.
import { newKey } from 'oncekey/client'
import { chargesOnFile, tap } from '../caller.ts'
import { withApi } from '../stage.ts'
import type { Story } from '../story.ts'

export const reusedKey: Story = {
  title: 'Key reused for something else',
  about: 'The same key comes with another amount.',
  play: (stage) =>
    withApi(stage, { MODE: 'transaction' }, async ({ api }) => {
      const call = { url: api.url, key: newKey(), body: { amount: 2500, card: 'tok_visa' } }
      const first = await tap(call)
      const other = await tap({ ...call, body: { amount: 9900, card: 'tok_visa' } })
      const again = await tap({ ...call, body: { card: 'tok_visa', amount: 2500 } })
      const charges = await chargesOnFile(api.url)
      return {
        saw: [
          `2500: ${first.attempts[0]}`,
          `9900: ${other.attempts[0]}`,
          `2500, members in another order: ${again.attempts[0]}`,
        ],
        holds: [`table: ${charges} charge`],
        charges,
        expected: 1,
      }
    }),
}
