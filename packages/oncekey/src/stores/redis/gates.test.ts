/** What the store in Redis costs, in figures that no load can change: commands and bytes. */
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { describeRedis, driverWith, freshPrefix, redisClient, redisUrl } from '../../../../../test/support/redis.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { answerCodec } from '../../http/answer.ts'
import { redis } from './index.ts'
import { keysUnder } from './keys.ts'

const body = new TextEncoder().encode('{"id":"ch_12345678","amount":4200,"ok":true} ')
const contentType = ['content-type', 'application/json'] as const

describeRedis('what the store in Redis costs', () => {
  const prefix = freshPrefix()
  let client: Redis

  beforeAll(() => {
    client = redisClient()
  })
  afterAll(() => client.disconnect())

  /** The commands that clients sent with our prefix, as MONITOR shows them; what a script calls itself is marked `lua`. */
  async function commandsOf(what: () => Promise<unknown>): Promise<string[]> {
    const { hostname, port } = new URL(redisUrl())
    // A connection of its own: ioredis' `monitor` stumbles over what other tests send in that moment.
    const socket = connect(Number(port), hostname)
    let said = ''
    socket.on('data', (piece) => {
      said += piece
    })
    const shown = (text: string) => vi.waitFor(() => expect(said).toContain(text), { timeout: 10_000, interval: 5 })
    try {
      socket.write('MONITOR\r\n')
      await shown('+OK')
      await what()
      const end = `${prefix}${randomUUID()}`
      await client.exists(end)
      await shown(end)
    } finally {
      socket.destroy()
    }
    const lines = said.split('\r\n').filter((line) => line.includes(prefix) && !/^\+\S+ \[\d+ lua\]/.test(line))
    return lines.map((line) => /\] "(\w+)"/.exec(line)?.[1]?.toLowerCase() ?? line).filter((name) => name !== 'exists')
  }

  it('a new key is two commands, a replay, a busy answer and a mismatch are one', async () => {
    const store = redis(client, { prefix, ...databaseOnly })
    const operation = () => ({ scope: 's', key: randomUUID(), fingerprints: ['f'] as [string] })
    await once(store, operation(), async () => 1)
    const charge = operation()
    const kinds: string[] = []
    const told = async (run: Promise<{ kind: string }>) => kinds.push((await run).kind)
    expect(await commandsOf(() => told(once(store, charge, async () => 1)))).toEqual(['evalsha', 'evalsha'])
    expect(await commandsOf(() => told(once(store, charge, async () => 1)))).toEqual(['evalsha'])
    const other = { ...charge, fingerprints: ['g'] as [string] }
    expect(await commandsOf(() => told(once(store, other, async () => 1)))).toEqual(['evalsha'])
    const driver = driverWith(client, { prefix })
    const running = wanted()
    await driver.claim(running)
    expect(await commandsOf(() => driver.claim(repeat(running)))).toEqual(['evalsha'])
    expect(kinds).toEqual(['ran', 'replayed', 'mismatch'])
  })

  it.each([
    ['oncekey:', 192, [contentType]],
    ['oncekey:', 216, [contentType, ['location', '/charges/ch_12345678'] as const]],
  ])('a completed key under %s is at most %d bytes', async (default_, limit, headers) => {
    const receipt = await answerCodec().encode({ status: 201, headers, body })
    // As many letters as the default has.
    const short = `${prefix.slice(0, default_.length - 1)}:`
    const driver = driverWith(client, { prefix: short })
    const owned = wanted()
    const claimed = await driver.claim(owned)
    if (claimed.kind !== 'won') return expect.fail(claimed.kind)
    await driver.complete({ ...owned, fence: claimed.fence }, { receipt })
    const key = keysUnder(short, '').record(owned.id)
    const bytes = Number(await client.memory('USAGE', key))
    await client.unlink(key, `${short}meta`)
    console.log(`${bytes} bytes of MEMORY USAGE per key, at most ${limit}`)
    expect(bytes).toBeLessThanOrEqual(limit)
  })

  it('a repeat changes nothing in the server: no write reaches its log or its replicas', async () => {
    const driver = driverWith(client, { prefix })
    const owned = wanted()
    const claimed = await driver.claim(owned)
    if (claimed.kind !== 'won') return expect.fail(claimed.kind)
    const dump = () => client.dumpBuffer(keysUnder(prefix, '').record(owned.id))
    const before = await dump()
    expect((await driver.claim(repeat(owned))).kind).toBe('record')
    await driver.complete({ ...owned, fence: claimed.fence }, { receipt: Uint8Array.of(1) })
    const key = keysUnder(prefix, '').record(owned.id)
    const [kept, ends] = [await dump(), await client.pexpiretime(key)]
    expect(kept).not.toEqual(before)
    expect((await driver.claim(repeat(owned))).kind).toBe('record')
    expect(await dump()).toEqual(kept)
    expect(await client.pexpiretime(key)).toBe(ends)
  })
})
