// What callers are told, and what has happened, when a store's server goes away before, during and after the work.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Grant, Store } from 'oncekey'
import { type FaultProxy, faultProxy } from 'oncekey/testing'
import { expect, it, onTestFinished } from 'vitest'
import type { Effect, Mode } from './charges/charging.ts'
import { type Endpoint, serving } from './serving.ts'

/** A store through a proxy, and charges that are counted past it. */
export interface Outage {
  readonly mode: Mode
  readonly effect: Effect
  /** The server itself. */
  to(): string
  open(url: string): Promise<Opened>
}
export interface Opened<G extends Grant = Grant> {
  /** Lease 1 s, work 2 s; its failures free nothing that may have happened. */
  readonly store: Store<G>
  charge(grant: G): unknown
  charges(): Promise<number>
}

/** A claim waits 1 s for a store that says nothing; a crowded machine needs a moment more to say so. */
const SOON_MS = 2_500

/** Says to the compiler that grant and store belong together. */
export function opened<G extends Grant>(store: Store<G>, rest: Omit<Opened<G>, 'store'>): Opened {
  return { store, ...rest }
}

export function outages({ mode, effect, to, open }: Outage): void {
  async function begin(during: (proxy: FaultProxy) => unknown = () => {}) {
    const proxy = await faultProxy({ to: to() })
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    const { store, charge, charges } = await open(proxy.url)
    let runs = 0
    const endpoint: Endpoint = await serving(store, async (grant) => {
      runs++
      await charge(grant)
      if (runs === 2) await during(proxy)
    })
    onTestFinished(async () => {
      await proxy.up()
      await endpoint.end()
    })
    // Connections are made, scripts and schema are known.
    expect((await endpoint.post('warm')).status).toBe(201)
    return { ...endpoint, proxy, runs: () => runs - 1, charged: async () => (await charges()) - 1 }
  }

  it('down before the work: 503 within the second, and nothing runs, now or later', async () => {
    const { post, proxy, runs, charged } = await begin()
    proxy.down()
    const told = await post('k1')
    expect(told).toMatchObject({ status: 503, code: 'store-unavailable', retryAfter: expect.stringMatching(/^[1-9]/) })
    expect(told.ms).toBeLessThan(SOON_MS)
    await proxy.up()
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([runs(), await charged()]).toEqual([0, 0])
    expect(await eventually(post, 'k1')).toMatchObject({ status: 201, replayed: false })
    expect([runs(), await charged()]).toEqual([1, 1])
  })

  it('silent before the work: 503 within the second, and a claim that gets through later runs nothing', async () => {
    const { post, proxy, runs, charged } = await begin()
    proxy.silence()
    const told = await post('k1')
    expect(told).toMatchObject({ status: 503, code: 'store-unavailable' })
    expect(told.ms).toBeLessThan(SOON_MS)
    await proxy.up()
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([runs(), await charged()]).toEqual([0, 0])
    expect(await eventually(post, 'k1')).toMatchObject({ status: 201, replayed: false })
    expect([runs(), await charged()]).toEqual([1, 1])
  })

  it('gone during the work: it is told that nobody can say, or that nothing happened; one effect in the end', async () => {
    const { post, proxy, charged, until } = await begin((proxy) => proxy.down())
    const told = await post('k1')
    expect(told.status >= 500 && TOLD[mode].includes(`${told.code}`), JSON.stringify(told)).toBe(true)
    await proxy.up()
    await until('k1', 201)
    expect(await charged()).toBe(1)
  })

  it('silent when the work ends: no answer of its own leaves, no request hangs; one effect at most', async () => {
    const { post, proxy, charged, until } = await begin((proxy) => proxy.silence())
    const told = await post('k1')
    expect(told.status >= 500 && TOLD[mode].includes(`${told.code}`), JSON.stringify(told)).toBe(true)
    // 10 s until COMMIT counts as in doubt, 5 s in which it is looked for.
    expect(told.ms).toBeLessThan(20_000)
    await proxy.up()
    const last = mode === 'lease' ? await settled(until) : await until('k1', 201)
    if (last.status === 201) expect(await charged()).toBe(1)
    else expect(await charged()).toBeLessThanOrEqual(1)
  })

  it('gone once the answer is kept: the answer leaves, and is there again when the store is', async () => {
    const { post, proxy, runs, charged } = await begin()
    const goes = () => proxy.down()
    subscribe('oncekey:kept', goes)
    onTestFinished(() => void unsubscribe('oncekey:kept', goes))
    expect(await post('k1')).toMatchObject({ status: 201, replayed: false })
    unsubscribe('oncekey:kept', goes)
    expect(await post('k1')).toMatchObject({ status: 503, code: 'store-unavailable' })
    await proxy.up()
    expect(await eventually(post, 'k1')).toMatchObject({ status: 201, replayed: true })
    expect([runs(), await charged()]).toEqual([1, 1])
  })

  it.runIf(effect === 'inside')('gone during the work, its writes are gone with it', async () => {
    let during = -1
    const counting: (() => Promise<number>)[] = []
    const { post, proxy, charged } = await begin(async (proxy) => {
      proxy.down()
      during = await (counting[0] as () => Promise<number>)()
    })
    counting.push(charged)
    await post('k1')
    expect(during).toBe(0)
    await proxy.up()
  })
}

/** The codes that may be told while the store is away, when the work had run. */
const TOLD: Readonly<Record<Mode, readonly string[]>> = {
  transaction: ['try-again', 'commit-unknown', 'store-unavailable'],
  lease: ['outcome-unknown'],
}

/** In lease mode an owner that heard nothing to the end of its work's time may still have held the outcome. */
async function settled(until: Endpoint['until']) {
  try {
    return await until('k1', 201)
  } catch {
    return until('k1', 409, 'outcome-unknown')
  }
}

/** A library may need a moment to find the server again. */
async function eventually(post: Endpoint['post'], key: string) {
  for (let tries = 0; ; tries++) {
    const answered = await post(key)
    if (answered.status < 500 || tries === 30) return answered
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
