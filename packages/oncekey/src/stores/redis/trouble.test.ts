/** What a Redis and the way to it can do wrong, short of going away: each is told in words or got over, and nothing runs twice. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { clients, describeRedisServers, type OwnServer, ownServers } from '../../../../../test/support/redis-servers.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { identifyKey } from '../../core/operation.ts'
import { databaseOnly } from '../../core/policy.ts'
import { anyWire, faultProxy } from '../../testing/proxy.ts'
import { redis } from './index.ts'
import { keysUnder } from './keys.ts'

const operation = () => ({ scope: 'trouble', key: randomUUID(), fingerprints: ['body'] as [string] })
const keyOf = (charge: ReturnType<typeof operation>) => keysUnder('oncekey:', '').record(identifyKey(charge).id)

describeRedisServers('a Redis in trouble', () => {
  const servers = ownServers()
  let server: OwnServer
  let beside: Redis

  beforeAll(async () => {
    server = await servers.open()
    beside = new Redis(server.url)
    beside.on('error', () => {})
    return () => beside.disconnect()
  })
  beforeEach(async () => {
    await beside.flushall()
  })

  async function config(name: string, value: string): Promise<void> {
    const [, before] = (await beside.config('GET', name)) as [string, string]
    await beside.config('SET', name, value)
    onTestFinished(async () => void (await beside.config('SET', name, before)))
  }

  describe.each(clients)('reached by $library', ({ open }) => {
    it('scripts that are lost are loaded again: before a claim and in mid-work', async () => {
      const store = redis(await open(server.url), databaseOnly)
      await once(store, operation(), async () => 1)
      await beside.script('FLUSH')
      const charge = operation()
      const outcome = await once(store, charge, async () => {
        await beside.script('FLUSH')
        return 'charged'
      })
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
      expect(await once(store, charge, async () => expect.fail('ran again'))).toMatchObject({ kind: 'replayed' })
    })

    it.each([
      ['a claim', 0],
      ['an answer', 1],
    ] as const)(
      '%s whose reply is lost with its connection is recognised, with the same fence (S2)',
      async (_what, nth) => {
        await using proxy = await faultProxy({ to: server.url, wire: anyWire })
        const store = redis(await open(proxy.url), databaseOnly)
        await again(() => once(store, operation(), async () => 'connected'))
        const charge = operation()
        const key = keyOf(charge)
        let seen = 0
        const armed = proxy.next((message) => Buffer.from(message).includes(key) && seen++ === nth, {
          kind: 'cut',
          at: 'answer',
        })
        let runs = 0
        const outcome = await once(store, charge, async ({ fence }) => {
          runs++
          return String(fence)
        })
        await armed.struck
        expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
        expect(await again(() => once(store, charge, async () => ++runs))).toMatchObject({
          kind: 'replayed',
          value: outcome.kind === 'ran' ? outcome.value : '',
        })
        expect(runs).toBe(1)
      },
    )

    it('a connection over which nothing comes any more is given up within a second or so, and nothing is left behind', async () => {
      await using proxy = await faultProxy({ to: server.url, wire: anyWire })
      const store = redis(await open(proxy.url), { ...databaseOnly, claimMs: 300, lease: '2s' })
      await again(() => once(store, operation(), async () => 'connected'))
      const charge = operation()
      const armed = proxy.next(keyOf(charge), { kind: 'silence', at: 'request', reach: 'server' })
      const began = performance.now()
      const error = await once(store, charge, async () => expect.fail('ran')).catch((caught: unknown) => caught)
      await armed.struck
      expect(isOncekeyError(error, 'STORE_UNAVAILABLE'), String(error)).toBe(true)
      expect(performance.now() - began).toBeLessThan(3_000)
      await proxy.up()
      // ioredis sends what was not answered again: a claim that nobody waits for any more wins, and is given back.
      await vi.waitFor(
        async () => expect(await once(store, charge, async () => 'charged')).toMatchObject({ kind: 'ran' }),
        { timeout: 10_000, interval: 50 },
      )
    })

    it('connections that an operator kills end no operation', async () => {
      const store = redis(await open(server.url), databaseOnly)
      const charge = operation()
      const outcome = await again(() =>
        once(store, charge, async () => {
          await beside.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
          return 'charged'
        }),
      )
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
    })

    it('memory that is full refuses new claims at once, answers repeats, and lets what is claimed end', async () => {
      const store = redis(await open(server.url), databaseOnly)
      const kept = operation()
      const charge = operation()
      await again(() => once(store, kept, async () => 'kept'))
      const outcome = await once(store, charge, async () => {
        await config('maxmemory', '1')
        return 'charged'
      })
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
      for (const done of [kept, charge])
        expect(await once(store, done, async () => expect.fail('ran again'))).toMatchObject({ kind: 'replayed' })
      const error = await once(store, operation(), async () => expect.fail('ran')).catch((caught: unknown) => caught)
      expect(isOncekeyError(error, 'STORE_UNAVAILABLE') && error.what).toBe('The memory of the server is full.')
    })

    // openmeterio/openmeter#4485
    it('a server that turned into a replica decides nothing, not even from what it has; back again, the owner’s answer is kept', async () => {
      const store = redis(await open(server.url), databaseOnly)
      const kept = operation()
      const charge = operation()
      await again(() => once(store, kept, async () => 'kept'))
      const outcome = await once(store, charge, async () => {
        await beside.replicaof('127.0.0.1', 1)
        for (const asked of [kept, operation()]) {
          const error = await once(store, asked, async () => expect.fail('ran')).catch((caught: unknown) => caught)
          expect(isOncekeyError(error, 'STORE_UNAVAILABLE'), String(error)).toBe(true)
          expect(String((error as Error).cause)).toContain('READONLY')
        }
        setTimeout(() => void beside.replicaof('NO', 'ONE'), 200)
        return 'charged'
      })
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
    })
  })

  it('a primary that lost its replicas, where some are asked for, answers nothing from what it has', async () => {
    const store = redis(await clients[0].open(server.url), databaseOnly)
    const kept = operation()
    await once(store, kept, async () => 'kept')
    await config('min-replicas-to-write', '1')
    const error = await once(store, kept, async () => expect.fail('ran again')).catch((caught: unknown) => caught)
    expect(isOncekeyError(error, 'STORE_UNAVAILABLE') && String(error.cause)).toContain('NOREPLICAS')
  })

  it('a key of somebody else under our prefix is said at once, and left alone', async () => {
    const store = redis(await clients[0].open(server.url), databaseOnly)
    const charge = operation()
    await beside.hset(keyOf(charge), 'a', '1')
    const error = await once(store, charge, async () => expect.fail('ran')).catch((caught: unknown) => caught)
    expect(isOncekeyError(error, 'STORE_UNAVAILABLE') && error.what).toContain('something else than a record')
    expect(await beside.hgetall(keyOf(charge))).toEqual({ a: '1' })
  })

  it('a user of the server needs no more rights than the page on Redis says', async () => {
    const page = readFileSync(new URL('../../../../../docs/how-to/redis.md', import.meta.url), 'utf8')
    const rights = /An ACL needs `([^`]+)`/.exec(page)?.[1]?.split(' ') ?? []
    expect(rights.length).toBeGreaterThan(10)
    await beside.acl('SETUSER', 'shop', 'on', '>secret', '~oncekey:*', '+hello', '+ping', '+client', ...rights)
    const address = new URL(server.url)
    address.username = 'shop'
    address.password = 'secret'
    for (const { open } of clients) {
      const store = redis(await open(address.href), { ...databaseOnly, retain: '1h' })
      const charge = operation()
      expect(await again(() => once(store, charge, async () => 1))).toMatchObject({ kind: 'ran' })
      const seen = await store.admin.find(charge)
      if (!seen) return expect.fail('no record')
      expect(await store.admin.erase(seen, { who: 'ada', why: 'asked' })).toBe('done')
      expect(await store.admin.sweep()).toMatchObject({ complete: true })
      await store.admin.restored({ who: 'ada', why: 'asked', onEpochChange: 'run' })
      await store.admin.reconciled({ who: 'ada', why: 'asked' })
      const gone = await store.admin.find(charge)
      expect(gone && (await store.admin.forget(gone, { who: 'ada', why: 'asked' }))).toBe('done')
    }
  })

  it('records and their ends survive SIGKILL of the server', async () => {
    const store = redis(await clients[0].open(server.url), { ...databaseOnly, retain: '1h' })
    const charge = operation()
    await once(store, charge, async () => 'charged')
    const before = await store.admin.find(charge)
    await server.kill()
    await server.start()
    expect(await again(() => store.admin.find(charge))).toEqual(before)
  })

  it('a client of node-redis that nobody listens to does not end the process, and it is said that we listen', async () => {
    const warnings: string[] = []
    const warned = ({ code }: { code?: string }) => void warnings.push(code ?? '')
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const client = createClient({ url: server.url })
    onTestFinished(() => client.destroy())
    await client.connect()
    const store = redis(client, databaseOnly)
    await once(store, operation(), async () => 1)
    await server.kill()
    await vi.waitFor(() => expect(warnings).toContain('ONCEKEY_REDIS_NO_ERROR_LISTENER'), 5_000)
    await server.start()
    expect(await again(() => once(store, operation(), async () => 1))).toMatchObject({ kind: 'ran' })
    await store[Symbol.asyncDispose]()
    expect(client.listenerCount('error')).toBe(0)
  })
})

/** As a caller would: until the store is there again. */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 40 || !isOncekeyError(error) || error.code !== 'STORE_UNAVAILABLE') throw error
    }
  }
}
