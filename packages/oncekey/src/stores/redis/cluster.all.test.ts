/** The store contract on a Redis Cluster of six, by both clients; and what a failover does to operations that are at it. */
import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { redisProgram } from '../../../../../scripts/services/redis.mjs'
import { redisCluster } from '../../../../../scripts/services/redis-cluster.mjs'
import { openRun } from '../../../../../scripts/services/run.mjs'
import { redisContract } from '../../../../../test/support/redis-contract.ts'
import { once } from '../../core/once.ts'
import { identifyKey } from '../../core/operation.ts'
import { databaseOnly } from '../../core/policy.ts'
import { redis } from './index.ts'
import { keysUnder } from './keys.ts'

const program = redisProgram()
if (program === undefined && process.env.CI === 'true') throw new Error('CI=true and there is no Redis')

describe.skipIf(program === undefined)('a Redis Cluster', () => {
  const run = openRun()
  let cluster: Awaited<ReturnType<typeof redisCluster>>
  let ioredis: Cluster
  let nodeRedis: ReturnType<typeof connecting>

  function connecting() {
    return createCluster({ rootNodes: cluster.addresses.map(({ port }) => ({ url: `redis://127.0.0.1:${port}` })) })
  }

  beforeAll(async () => {
    cluster = await redisCluster(run, program ?? '')
    // Reads at replicas where a client sends any: none of ours may go there.
    ioredis = new Cluster([...cluster.addresses], { scaleReads: 'slave' })
    ioredis.on('error', () => {})
    nodeRedis = connecting()
    nodeRedis.on('error', () => {})
    await nodeRedis.connect()
  })
  afterAll(async () => {
    ioredis?.disconnect()
    nodeRedis?.destroy()
    await run.stop()
  })

  async function empty(): Promise<void> {
    await Promise.all(ioredis.nodes('master').map((node) => node.flushdb()))
  }

  for (const [library, client] of [
    ['ioredis', () => ioredis],
    ['node-redis', () => nodeRedis],
  ] as const)
    redisContract({
      name: `Redis Cluster by ${library}`,
      prefix: 'oncekey:',
      client,
      empty,
      faults: true,
      setFirstByte: (key, byte) => ioredis.setrange(key, 0, byte),
    })

  it('records lie on all primaries, and lists and sweeps find them', async () => {
    await empty()
    const store = redis(ioredis, { ...databaseOnly, retain: '1h' })
    for (let n = 0; n < 60; n++) await once(store, operation(), async () => n)
    const sizes = await Promise.all(ioredis.nodes('master').map((node) => node.dbsize()))
    expect(sizes.every((size) => size > 0)).toBe(true)
    expect(await store.admin.stats()).toMatchObject({ finished: 60 })
    expect(await store.admin.sweep({ batch: 7, pauseMs: 0 })).toMatchObject({ removed: 0, complete: true })
    await store[Symbol.asyncDispose]()
  })

  it.each([
    ['ioredis', () => ioredis],
    ['node-redis', () => nodeRedis],
  ] as const)('a failover in mid-work loses neither claim nor answer, by %s', async (_library, client) => {
    const store = redis(client(), { ...databaseOnly, work: '20s' })
    const charge = operation()
    let runs = 0
    const work = async ({ operation: { key } }: { readonly operation: { readonly key: string } }) => {
      runs++
      await failOver(key)
      return 'charged'
    }
    const outcome = await once(store, charge, work)
    expect(outcome).toMatchObject({ kind: 'ran', value: 'charged', fate: 'kept' })
    expect(await until(() => once(store, charge, work))).toMatchObject({ kind: 'replayed', value: 'charged' })
    // The promoted replica had none of our scripts.
    expect(await until(() => once(store, operation(), async () => 'another'))).toMatchObject({ kind: 'ran' })
    expect(runs).toBe(1)
    await store[Symbol.asyncDispose]()
  })

  /** The replica of the primary that has the key takes over, with everything that the primary had. */
  async function failOver(key: string): Promise<void> {
    const { id } = identifyKey({ scope: 'cluster', key })
    const slot = Number(await ioredis.cluster('KEYSLOT', keysUnder('oncekey:', '').record(id)))
    // A primary that was demoted a moment ago is not yet listed as a replica.
    const [primary, replica] = await vi.waitFor(
      async () => {
        const ranges = (await ioredis.cluster('SLOTS')) as unknown as [number, number, ...[string, number][]][]
        const nodes = ranges.find(([from, to]) => from <= slot && slot <= to)?.slice(2) as
          | [string, number][]
          | undefined
        expect(nodes).toHaveLength(2)
        return (nodes ?? []).map(([, port]) => port) as [number, number]
      },
      { timeout: 20_000, interval: 50 },
    )
    await vi.waitFor(async () => expect(await cluster.ask(replica, 'ROLE')).toContain('connected'), 20_000)
    expect(await cluster.ask(replica, 'CLUSTER', 'FAILOVER')).toContain('OK')
    await vi.waitFor(async () => expect(await cluster.ask(primary, 'ROLE')).toContain('slave'), {
      timeout: 20_000,
      interval: 50,
    })
  }
})

function operation() {
  return { scope: 'cluster', key: randomUUID(), fingerprints: ['body'] as [string] }
}

/** As a caller would: a store that is away for a moment is asked again. */
async function until<T>(attempt: () => Promise<T>): Promise<T> {
  return vi.waitFor(attempt, { timeout: 20_000, interval: 100 })
}
