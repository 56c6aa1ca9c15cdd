// Runs the snippets of the page on Redis, on a real one.
import { once } from 'oncekey'
import { expect, it } from 'vitest'
import { describeRedis, freshPrefix, redisUrl } from '../../../test/support/redis.ts'
import { byIoredis, byNodeRedis, inCluster } from './redis.ts'

describeRedis('the page on Redis', () => {
  const prefix = freshPrefix()

  it('ioredis: the bank is asked once, and a repeat gets its answer', async () => {
    const keys: string[] = []
    const bank = {
      async charge(key: string, amount: number) {
        keys.push(key)
        return { id: `mv_${amount}` }
      },
    }
    const { client, store, charge } = byIoredis(redisUrl(), bank, prefix)
    const operation = { scope: 'acct_1', key: 'k1', fingerprints: ['7'] as const }
    expect(await charge(operation, 7)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await charge(operation, 7)).toMatchObject({ kind: 'replayed', value: { id: 'mv_7' } })
    expect(keys).toHaveLength(1)
    await store[Symbol.asyncDispose]()
    client.disconnect()
  })

  it('node-redis: reads what ioredis has written', async () => {
    const { client, store } = await byNodeRedis(redisUrl(), prefix)
    const operation = { scope: 'acct_1', key: 'k1', fingerprints: ['7'] as const }
    const repeat = await once(store, operation, async () => expect.fail('ran again'))
    expect(repeat).toMatchObject({ kind: 'replayed', value: { id: 'mv_7' } })
    await store[Symbol.asyncDispose]()
    client.destroy()
  })

  it('a cluster is a client like any other', async () => {
    const { client, store } = inCluster()
    expect(store.name).toBe('redis')
    client.disconnect()
    await store[Symbol.asyncDispose]()
  })
})
