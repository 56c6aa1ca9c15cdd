/** What makes a Redis forget is found out and said when the store is first used. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { describeRedisServers, type OwnServer, ownServers } from '../../../../../test/support/redis-servers.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { connectionOf } from './client.ts'
import { examine } from './examine.ts'
import { type RedisClient, redis } from './index.ts'

const codes = async (client: RedisClient) => (await examine(connectionOf(client))).map(({ code }) => code)

describeRedisServers('a server that may forget', () => {
  const servers = ownServers()
  let server: OwnServer
  let beside: Redis

  beforeAll(async () => {
    server = await servers.open(['--appendonly', 'no'])
    beside = new Redis(server.url)
    return () => beside.disconnect()
  })

  async function nodeRedis(url = server.url) {
    const client = createClient({ url })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return client
  }

  // MegaPhoenix92/phoenix-mesh#31, developerz-ai/wurk#353
  it('evicts, keeps nothing on disk, or is a replica: each is a finding, by both clients', async () => {
    const client = await nodeRedis()
    for (const either of [beside, client]) {
      expect(await codes(either)).toEqual(['ONCEKEY_REDIS_FORGETS_AT_RESTART'])
      await beside.config('SET', 'maxmemory-policy', 'allkeys-lru')
      expect(await codes(either)).toEqual(['ONCEKEY_REDIS_EVICTS', 'ONCEKEY_REDIS_FORGETS_AT_RESTART'])
      await beside.replicaof('127.0.0.1', 1)
      expect(await codes(either)).toContain('ONCEKEY_REDIS_REPLICA')
      await beside.replicaof('NO', 'ONE')
      await beside.config('SET', 'maxmemory-policy', 'noeviction')
      await beside.config('SET', 'save', '3600 1')
      const [snapshots] = await examine(connectionOf(either))
      expect(snapshots?.says).toContain('since the last snapshot')
      await beside.config('SET', 'save', '')
      await beside.config('SET', 'appendonly', 'yes')
      expect(await codes(either)).toEqual([])
      await beside.config('SET', 'appendonly', 'no')
    }
  })

  it('says what could not be checked, where a managed server refuses to tell', async () => {
    const address = new URL(server.url)
    address.password = 'secret'
    for (const [user, rules, finding] of [
      ['no-config', ['-config'], 'CONFIG GET save is refused'],
      ['no-info', ['-info'], 'INFO is refused'],
    ] as const) {
      await beside.acl('SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', ...rules)
      address.username = user
      const [unchecked] = await examine(connectionOf(await nodeRedis(address.href)))
      expect(unchecked?.code).toBe('ONCEKEY_REDIS_UNCHECKED')
      expect(unchecked?.says).toContain(finding)
    }
  })

  it('is warned of once for each store, as a warning of the process and as an event, and keeps nobody from working', async () => {
    const warnings: string[] = []
    const events: unknown[] = []
    const warned = ({ code }: { code?: string }) => void warnings.push(code ?? '')
    const told = (event: unknown) => void events.push(event)
    process.on('warning', warned)
    subscribe('oncekey:may-forget', told)
    onTestFinished(() => {
      process.off('warning', warned)
      unsubscribe('oncekey:may-forget', told)
    })
    const store = redis(beside, databaseOnly)
    for (const key of ['k1', 'k2']) await once(store, { scope: 's', key, fingerprints: ['f'] }, async () => key)
    await vi.waitFor(() => expect(warnings).toEqual(['ONCEKEY_REDIS_FORGETS_AT_RESTART']), 5_000)
    expect(events).toMatchObject([{ event: 'may-forget', store: 'redis' }])
  })
})
