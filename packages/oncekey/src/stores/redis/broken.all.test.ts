/** The scripts are worth what the contract notices: each fault planted in one of them breaks exactly the rules that it is about. */
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type Change,
  describeRedis,
  driverWith,
  redisClient,
  removeKeys,
  standingClock,
  unusedPrefix,
} from '../../../../../test/support/redis.ts'
import { milliseconds } from '../../core/clock.ts'
import { faulty } from '../../testing/faulty.ts'
import type { Settings } from '../../testing/store-contract/subject.ts'
import { checkStore } from '../../testing/store-contract.ts'
import { leased } from '../leased.ts'
import { keysUnder } from './keys.ts'
import { IS_MINE } from './scripts/record.ts'

interface Broken extends Change {
  readonly name: string
  readonly breaks: readonly string[]
}

const BROKEN: readonly Broken[] = [
  {
    name: 'a claim that does not compare the fingerprint',
    script: 'claim',
    from: 'prints:sub(1, 16) ~= print',
    to: 'false',
    breaks: [
      'a key that may be tried again is remembered for as long as the downstream remembers it',
      'a key that may be tried again stays bound to its request',
      'an unknown outcome that is settled as free or retry runs again, once',
      'another request never takes over, also past the lease',
    ],
  },
  {
    name: 'a claim that takes whatever runs',
    script: 'claim',
    from: / or \(state ~= \d and lease > now\)/,
    to: '',
    breaks: [
      'a caller whose clock runs ahead takes nothing over',
      'a lease is honoured until its end, and at that instant it may be taken',
      'a loser is answered at once: busy, with a hint no longer than the lease',
      'a running record outlives its retention',
      'a sweep removes what is past its end and nothing else, in batches, as often as one likes',
      "a taker with a shorter lease waits for the record's own",
      'beats keep the claim of work that outlives its lease',
      'fifty parallel claims have one winner, and no loser fails, twenty times over',
      'of two first requests that differ one runs, and the loser of that race is compared too',
      'past its deadline a closing store aborts what still runs, and frees none of it',
      'takeover or hold is what the owner said, not what the taker says',
      'the age of a claim is told by the clock of the store',
      'the release of an owner that was taken over frees nothing',
      'the same execution enters again, in another process, with the same fence',
    ],
  },
  {
    name: 'a claim that takes over what was to be held',
    script: 'claim',
    from: /if state == \d or \(dedupes/,
    to: 'if (dedupes',
    breaks: [
      'takeover or hold is what the owner said, not what the taker says',
      'where the store takes neither answer nor hold, the record goes by its own rule at the end of its lease',
    ],
  },
  {
    name: 'a takeover past what the downstream remembers',
    script: 'claim',
    from: '(dedupes > 0 and now >= dedupes)',
    to: 'false',
    breaks: [
      'an abandoned claim is not taken over past what the downstream remembers',
      'past what the downstream remembers, counted from the first claim, nothing is run again',
    ],
  },
  {
    name: 'a fence that begins anew',
    script: 'claim',
    from: '(fence or 0) + 1',
    to: '0',
    breaks: ['every claim of a key has a greater fence than the one before'],
  },
  {
    name: 'an answer without a compare',
    script: 'complete',
    from: IS_MINE,
    to: 'bytes',
    breaks: [
      'an owner whose record is gone gets an unknown outcome, never its own answer',
      'the answer of an owner that was taken over is refused while the new owner is at work',
      "the answer of an owner that was taken over is refused, and it is told the new owner's",
    ],
  },
  {
    name: 'a release without a compare',
    script: 'releaseFree',
    from: IS_MINE,
    to: 'bytes',
    breaks: ['the release of an owner that was taken over frees nothing'],
  },
  {
    name: 'a sweep that removes what runs',
    script: 'sweep',
    from: 'if over then',
    to: 'if over or unended then',
    breaks: [
      'a sweep abandons running records past their lease, and their owner may still finish',
      'a sweep removes what is past its end and nothing else, in batches, as often as one likes',
    ],
  },
  {
    name: 'settling without a compare',
    script: 'settleFree',
    from: 'if not as_seen then',
    to: 'if not bytes then',
    breaks: ['settling compares first: what has changed since it was seen stays as it is'],
  },
]

describeRedis('a fault in a script', () => {
  let client: Redis

  beforeAll(() => {
    client = redisClient()
  })
  afterAll(() => client.disconnect())

  async function broken(change?: Change): Promise<string[]> {
    const prefix = unusedPrefix()
    const keys = keysUnder(prefix, '')
    function open(settings: Settings) {
      const retainMs = milliseconds(settings.retain ?? '24h', 'retain')
      const options = { prefix, clock: standingClock(prefix), retainMs, ...(change ? { change } : {}) }
      const { driver, faults } = faulty(driverWith(client, options))
      const claimMs = Math.max(1_000, milliseconds(settings.claimMs ?? 0, 'claimMs'))
      return { store: leased(driver, { ...settings, claimMs }), faults }
    }
    const results = await checkStore(
      async (settings) => {
        await removeKeys(client, prefix)
        await client.set(`${prefix}clock`, Date.now() * 1_000)
        const { store, faults } = open(settings)
        return {
          store,
          faults,
          another: (others) => open(others).store,
          async damage(id) {
            await client.setrange(keys.record(id), 0, '*')
          },
          async advance(ms) {
            await client.incrby(`${prefix}clock`, Math.round(ms * 1_000))
          },
          [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
        }
      },
      { mode: 'lease', clock: 'moved', several: true, faults: true, damage: true },
      { limitMs: 8_000 },
    )
    await removeKeys(client, prefix)
    return results.filter(({ error }) => error !== undefined).map(({ title }) => title)
  }

  it('the scripts as they are break nothing', { timeout: 180_000 }, async () => {
    expect(await broken()).toEqual([])
  })

  it.concurrent.each(BROKEN)('$name', { timeout: 300_000 }, async ({ breaks, ...change }) => {
    expect(breaks).not.toHaveLength(0)
    expect((await broken(change)).sort()).toEqual([...breaks].sort())
  })
})
