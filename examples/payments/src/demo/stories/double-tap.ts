// Somebody taps Pay twice.
import { newKey } from 'oncekey/client'
import { chargesOnFile, tap } from '../caller.ts'
import { withApi } from '../stage.ts'
import type { Story } from '../story.ts'

export const doubleTap: Story = {
  title: 'Double tap',
  about: 'The button is tapped twice, a moment apart, and a third time later.',
  play: (stage) =>
    withApi(stage, { MODE: 'transaction' }, async ({ api }) => {
      const call = { url: api.url, key: newKey(), body: { amount: 2500, card: 'tok_visa' } }
      const taps = await Promise.all([tap(call), tap(call)])
      const later = await tap(call)
      const charges = await chargesOnFile(api.url)
      return {
        saw: [...taps, later].map(({ attempts }, index) => `tap ${index + 1}: ${attempts.join(', ')}`),
        holds: [`table: ${charges} charge`],
        charges,
        expected: 1,
      }
    }),
}
