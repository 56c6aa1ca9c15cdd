/** The server is away before, during and after the work: answers within a second or so, nothing runs later, nothing runs twice. */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { clients, describeRedisServers, type OwnServer, ownServers } from '../../../../../test/support/redis-servers.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { identifyKey } from '../../core/operation.ts'
import { databaseOnly, downstreamDedupes } from '../../core/policy.ts'
import { redis } from './index.ts'

const operation = () => ({ scope: 'outage', key: randomUUID(), fingerprints: ['body'] as [string] })

describeRedisServers('a Redis that goes away', () => {
  const servers = ownServers()
  let server: OwnServer
  let up = false

  beforeAll(async () => {
    server = await servers.open()
    up = true
  })
  beforeEach(async () => {
    if (!up) await start()
  })
  async function kill(): Promise<void> {
    up = false
    await server.kill()
  }
  async function start(): Promise<void> {
    await server.start()
    up = true
  }

  async function unavailable(run: () => Promise<unknown>): Promise<void> {
    const began = performance.now()
    const error = await run().then(
      (value) => expect.fail(`answered ${JSON.stringify(value)}`),
      (caught: unknown) => caught,
    )
    expect(isOncekeyError(error, 'STORE_UNAVAILABLE'), String(error)).toBe(true)
    // A second is the promise; the rest is for a machine that is busy with other tests.
    expect(performance.now() - began).toBeLessThan(3_000)
  }

  describe.each(clients)('reached by $library', ({ open }) => {
    // @node-idempotency/core hangs for seconds here and runs the work later, after its caller has gone.
    it('before: nothing runs, and nothing is sent when it is back', async () => {
      const store = redis(await open(server.url), databaseOnly)
      expect(await again(() => once(store, operation(), async () => 'ready'))).toMatchObject({ kind: 'ran' })
      await kill()
      const charge = operation()
      let runs = 0
      await unavailable(() => once(store, charge, async () => ++runs))
      await start()
      // Longer than both libraries take to connect again and to send what they had kept.
      expect(await again(() => once(store, operation(), async () => 'another'))).toMatchObject({ kind: 'ran' })
      expect(await store.admin.find({ id: identifyKey(charge).id })).toBeUndefined()
      expect(runs).toBe(0)
      expect(await once(store, charge, async () => ++runs)).toMatchObject({ kind: 'ran', value: 1 })
    })

    it('before the first use of all: the same', async () => {
      await kill()
      const store = redis(await open(server.url), databaseOnly)
      let runs = 0
      const charge = operation()
      await unavailable(() => once(store, charge, async () => ++runs))
      await start()
      expect(await again(() => once(store, charge, async () => ++runs))).toMatchObject({ kind: 'ran', value: 1 })
    })

    it('during: the owner insists, and its answer is kept when the server is back', async () => {
      const store = redis(await open(server.url), downstreamDedupes({ for: '24h' }))
      const charge = operation()
      let runs = 0
      const outcome = await again(() =>
        once(store, charge, async () => {
          runs++
          await kill()
          setTimeout(() => void start(), 400)
          return 'charged'
        }),
      )
      expect(outcome).toMatchObject({ kind: 'ran', value: 'charged', fate: 'kept' })
      expect(await again(() => once(store, charge, async () => ++runs))).toMatchObject({
        kind: 'replayed',
        value: 'charged',
      })
      expect(runs).toBe(1)
    })

    it('during, and it stays away: the outcome is unknown, and nothing runs a second time', async () => {
      const store = redis(await open(server.url), {
        onFailure: 'hold',
        onAbandoned: 'hold',
        work: '1s',
        lease: '2s',
        claimMs: 300,
      })
      const charge = operation()
      let runs = 0
      const work = async () => {
        runs++
        await kill()
        return 'charged'
      }
      const error = await once(store, charge, work).catch((caught: unknown) => caught)
      expect(isOncekeyError(error, 'OUTCOME_UNKNOWN'), String(error)).toBe(true)
      await start()
      // A write that had left before the server died may be carried out yet: then the answer is known after all.
      const settled = await vi.waitFor(
        async () => {
          const repeat = await once(store, charge, work)
          expect(repeat.kind).not.toBe('busy')
          return repeat
        },
        { timeout: 10_000, interval: 200 },
      )
      expect(['unknown', 'replayed']).toContain(settled.kind)
      expect(runs).toBe(1)
    })

    it('after: repeats are told that it is away, and are answered when it is back', async () => {
      const store = redis(await open(server.url), databaseOnly)
      const charge = operation()
      expect(await again(() => once(store, charge, async () => 'charged'))).toMatchObject({ kind: 'ran' })
      await kill()
      await unavailable(() => once(store, charge, async () => expect.fail('ran again')))
      await start()
      const repeat = await again(() => once(store, charge, async () => expect.fail('ran again')))
      expect(repeat).toMatchObject({ kind: 'replayed', value: 'charged' })
    })
  })
})

/** As a caller would: until the store is there again. */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 40 || !isOncekeyError(error, 'STORE_UNAVAILABLE')) throw error
    }
  }
}
