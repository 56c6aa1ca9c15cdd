// The process dies between the charge and its answer. No code of ours runs at that moment; only what is stored counts.
import { newKey } from 'oncekey/client'
import { atTheBank, charge, chargesOnFile, tap } from '../caller.ts'
import { launch } from '../launch.ts'
import { type Stage, withApi } from '../stage.ts'
import type { Story, Told } from '../story.ts'

export const killed: Story = {
  title: 'Killed between charge and answer',
  about:
    'SIGKILL hits the API after the bank moved the money and before anything about it is stored; another process takes the retry.',
  play: (stage) => play(stage, 'lease'),
}

export const killedInTransaction: Story = {
  title: 'Killed after the commit',
  about: 'SIGKILL hits after the charge has committed and before the answer left; the retry has nothing to wait for.',
  play: (stage) => play(stage, 'transaction'),
}

function play(stage: Stage, mode: 'lease' | 'transaction'): Promise<Told> {
  // Two seconds, so that nobody waits half a minute for the takeover.
  const settings = { MODE: mode, LEASE: '2s', CRASH_AT: mode === 'lease' ? 'keeping' : 'kept' }
  return withApi(stage, settings, async ({ api, bank, store }) => {
    const body = { amount: 2500, card: 'tok_visa' }
    const key = newKey()
    const first = await tap({ url: api.url, key, body })
    await api.ended
    const second = await launch('api', { STORE: store, BANK_URL: bank.url, MODE: mode, LEASE: '2s' })
    try {
      const retry = await charge({ url: second.url, key, body })
      const { asked, moved } = await atTheBank(bank.url)
      const rows = await chargesOnFile(second.url)
      return {
        saw: [...first.attempts, ...retry.attempts].map((line, index) => `attempt ${index + 1}: ${line}`),
        holds: [...(mode === 'lease' ? [`bank: asked ${asked}, money moved ${moved}`] : []), `table: ${rows} charge`],
        charges: Math.max(moved, rows),
        expected: 1,
      }
    } finally {
      await second[Symbol.asyncDispose]()
    }
  })
}
