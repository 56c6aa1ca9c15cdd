// Redis through HTTP: races between processes, owners killed with SIGKILL, and a server that goes away.
import { downstreamDedupes } from 'oncekey'
import { redis } from 'oncekey/redis'
import { describe, it, onTestFinished, vi } from 'vitest'
import { unused } from './support/charges/charging.ts'
import { crashes } from './support/crashes.ts'
import { nodeRedisArena, redisArena } from './support/grounds/redis.ts'
import { opened, outages } from './support/outages.ts'
import { changedBodies, race } from './support/race.ts'
import { describeRedis, redisClient, redisUrl, removeKeys } from './support/redis.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

describeRedis('Redis, lease mode', () => {
  describe('a hundred identical requests at two processes end in one charge each round (idempot-dev/idempot-js#182)', () => {
    describe.each([redisArena, nodeRedisArena])('$name', ({ mode: MODE, ground }) => {
      it('on Express', async () => race(await ground(), { MODE, FRAMEWORK: 'express' }))
      it('while fifty changed bodies get 422 (idempot-dev/idempot-js#183)', async () =>
        changedBodies(await ground(), { MODE, FRAMEWORK: 'hono' }))
    })
  })

  describe('a process killed with SIGKILL', () => crashes(redisArena))

  describe('a server that goes away', () => {
    outages({
      mode: 'lease',
      effect: 'outside',
      to: () => redisUrl(),
      async open(url) {
        const prefix = `${unused()}:`
        const [client, apart] = [redisClient(url), redisClient()]
        onTestFinished(async () => {
          await removeKeys(apart, prefix)
          apart.disconnect()
          client.disconnect()
        })
        const options = { prefix, lease: '1s', work: '2s', ...downstreamDedupes({ for: '24h' }) } as const
        return opened(redis(client, options), {
          charge: (grant) => apart.sadd(`${prefix}charges`, grant.childKey('charge')),
          charges: () => apart.scard(`${prefix}charges`),
        })
      },
    })
  })
})
