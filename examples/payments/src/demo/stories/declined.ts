// A declined card is an answer like any other: kept, and replayed.
import { newKey } from 'oncekey/client'
import { chargesOnFile, tap } from '../caller.ts'
import { withApi } from '../stage.ts'
import type { Story } from '../story.ts'

export const declined: Story = {
  title: 'Declined card',
  about: 'The card is declined, and the client asks again with the same key.',
  play: (stage) =>
    withApi(stage, { MODE: 'transaction' }, async ({ api }) => {
      const call = { url: api.url, key: newKey(), body: { amount: 2500, card: 'tok_declined' } }
      const tries = [await tap(call), await tap(call)]
      const charges = await chargesOnFile(api.url)
      return {
        saw: tries.map(({ attempts }, index) => `attempt ${index + 1}: ${attempts.join(', ')}`),
        holds: [`table: ${charges} charges`],
        charges,
        expected: 0,
      }
    }),
}
