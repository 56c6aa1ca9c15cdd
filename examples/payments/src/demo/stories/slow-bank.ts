// The bank takes 600 ms and the client gives up after 200: the first article's timeline.
import { newKey } from 'oncekey/client'
import { atTheBank, charge, chargesOnFile } from '../caller.ts'
import { withApi } from '../stage.ts'
import type { Story } from '../story.ts'

export const slowBank: Story = {
  title: 'Slow bank, hasty client',
  about: 'The bank needs 600 ms, the client gives up after 200 ms and tries again.',
  play: (stage) =>
    withApi(stage, { MODE: 'lease' }, async ({ api, bank }) => {
      const call = { url: api.url, key: newKey(), body: { amount: 2500, card: 'tok_slow' } }
      const { attempts } = await charge(call, { timeout: '200ms', base: '50ms' })
      const { asked, moved } = await atTheBank(bank.url)
      const rows = await chargesOnFile(api.url)
      return {
        saw: attempts.map((line, index) => `attempt ${index + 1}: ${line}`),
        holds: [`bank: asked ${asked}, money moved ${moved}`, `table: ${rows} charge`],
        charges: Math.max(moved, rows),
        expected: 1,
      }
    }),
}
