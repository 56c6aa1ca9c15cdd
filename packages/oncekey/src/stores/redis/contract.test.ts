/** The store contract on a real Redis by ioredis: as the factory makes it, and with a clock that is moved and replies that are lost. */
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import {
  describeRedis,
  driverWith,
  freshPrefix,
  redisClient,
  removeKeys,
  standingClock,
} from '../../../../../test/support/redis.ts'
import { redisContract } from '../../../../../test/support/redis-contract.ts'
import { milliseconds } from '../../core/clock.ts'
import type { Forgetful, Store } from '../../core/store.ts'
import { faulty } from '../../testing/faulty.ts'
import type { Settings, Subject } from '../../testing/store-contract/subject.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { leased } from '../leased.ts'
import { keysUnder } from './keys.ts'

describeRedis('Redis by ioredis', () => {
  const prefix = freshPrefix()
  const clock = standingClock(prefix)
  const keys = keysUnder(prefix, '')
  let client: Redis

  beforeAll(() => {
    client = redisClient()
  })
  afterAll(() => client.disconnect())

  function withFaults(settings: Settings) {
    const retainMs = milliseconds(settings.retain ?? '24h', 'retain')
    const { driver, faults } = faulty(driverWith(client, { prefix, clock, retainMs }))
    // What is enough for a store in memory is too little for a server that shares two cores with these tests.
    const claimMs = Math.max(1_000, milliseconds(settings.claimMs ?? 0, 'claimMs'))
    return { store: leased(driver, { ...settings, claimMs }), faults }
  }

  async function sever(): Promise<void> {
    await client.call('CLIENT', 'KILL', 'ID', String(await client.client('ID')), 'SKIPME', 'no').catch(() => {})
  }

  function subject(store: Store<Forgetful>, open: () => Store<Forgetful>): Subject<Forgetful> {
    let current = store
    return {
      store,
      another: open,
      async reopen() {
        await current[Symbol.asyncDispose]()
        current = open()
        return current
      },
      async damage(id) {
        await client.setrange(keys.record(id), 0, '*')
      },
      async advance(ms) {
        await client.incrby(`${prefix}clock`, Math.round(ms * 1_000))
      },
      sever,
      [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
    }
  }

  const shown = { mode: 'lease', several: true, reopen: true, damage: true, sever: true } as const

  storeContract(
    async (settings) => {
      await removeKeys(client, prefix)
      await client.set(`${prefix}clock`, Date.now() * 1_000)
      const { store, faults } = withFaults(settings)
      return { ...subject(store, () => withFaults(settings).store), faults }
    },
    { ...shown, name: 'Redis by ioredis, its clock moved', clock: 'moved', faults: true },
    { runner: { describe, it } },
  )

  redisContract({
    name: 'Redis by ioredis',
    prefix,
    client: () => client,
    empty: () => removeKeys(client, prefix),
    setFirstByte: (key, byte) => client.setrange(key, 0, byte),
    sever,
  })
})
