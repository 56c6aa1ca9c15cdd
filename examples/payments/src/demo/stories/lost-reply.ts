// The bank charges the card and its reply is lost: nobody knows, and the same child key finds out.
import { newKey } from 'oncekey/client'
import { atTheBank, charge, chargesOnFile } from '../caller.ts'
import { withApi } from '../stage.ts'
import type { Story } from '../story.ts'

export const lostReply: Story = {
  title: "The bank's reply is lost",
  about: 'The bank moves the money and the connection breaks before it says so; the client tries again.',
  play: (stage) =>
    withApi(stage, { MODE: 'lease' }, async ({ api, bank }) => {
      const { attempts } = await charge({ url: api.url, key: newKey(), body: { amount: 2500, card: 'tok_lost' } })
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
