/** The store contract on Redis by node-redis. */
import { createClient } from 'redis'
import { afterAll, beforeAll } from 'vitest'
import { describeRedis, freshPrefix, redisClient, redisUrl, removeKeys } from '../../../../../test/support/redis.ts'
import { redisContract } from '../../../../../test/support/redis-contract.ts'

describeRedis('Redis by node-redis', () => {
  const prefix = freshPrefix()
  let client: ReturnType<typeof connecting>
  let beside: ReturnType<typeof redisClient>

  function connecting() {
    return createClient({ url: redisUrl() })
  }

  beforeAll(async () => {
    client = connecting()
    client.on('error', () => {})
    await client.connect()
    beside = redisClient()
  })
  afterAll(async () => {
    client.destroy()
    beside.disconnect()
  })

  redisContract({
    name: 'Redis by node-redis',
    prefix,
    client: () => client,
    empty: () => removeKeys(beside, prefix),
    faults: true,
    setFirstByte: (key, byte) => beside.setrange(key, 0, byte),
    sever: async () => beside.call('CLIENT', 'KILL', 'ID', String(await client.clientId())),
  })
})
