/** Metrics and kill points hang on these channels: each event arrives in the same tick, and nothing secret is in it. */
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { memory } from '../stores/memory.ts'
import { EVENTS, type OncekeyEvent, tell } from './events.ts'
import { once } from './once.ts'
import { databaseOnly } from './policy.ts'

function listen(): { readonly heard: OncekeyEvent[]; [Symbol.dispose](): void } {
  const heard: OncekeyEvent[] = []
  const hear = (message: unknown) => void heard.push(message as OncekeyEvent)
  for (const event of EVENTS) subscribe(`oncekey:${event}`, hear)
  return {
    heard,
    [Symbol.dispose]() {
      for (const event of EVENTS) unsubscribe(`oncekey:${event}`, hear)
    },
  }
}

test('a subscriber hears an event before tell returns, so that a process can be killed exactly there', () => {
  using listening = listen()
  tell('kept', { id: 'ab', fence: 7n })
  expect(listening.heard).toEqual([{ event: 'kept', id: 'ab', fence: 7n }])
})

test('without subscribers nothing is published', () => {
  expect(channel('oncekey:kept').hasSubscribers).toBe(false)
  expect(() => tell('kept', {})).not.toThrow()
})

test('a run, a replay and a mismatch are told in their order, and the receipt is kept before the answer leaves', async () => {
  using listening = listen()
  await using store = memory(databaseOnly)
  const charge = { scope: 'acct_1', key: 'secret-key', fingerprints: ['body'], name: 'POST /charges' } as const
  let left: string[] = []
  await once(store, charge, async () => 'ch_1').then(() => {
    left = listening.heard.map(({ event }) => event)
  })
  await once(store, charge, async () => 'ch_2')
  await once(store, { ...charge, fingerprints: ['other'] }, async () => 'ch_3')
  expect(left).toEqual(['claimed', 'keeping', 'kept'])
  expect(listening.heard.map(({ event }) => event)).toEqual(['claimed', 'keeping', 'kept', 'replayed', 'mismatch'])
  for (const message of listening.heard) {
    expect(message).toMatchObject({ store: 'memory', mode: 'lease', name: 'POST /charges' })
    const told = JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    expect(told).not.toContain('secret-key')
    expect(told).not.toContain('acct_1')
  }
})
