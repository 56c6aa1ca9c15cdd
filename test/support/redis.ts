// A real Redis for test files: each gets a prefix of its own, whose keys are removed when the file ends.
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll } from 'vitest'
import { overIoredis } from '../../packages/oncekey/src/stores/redis/ioredis.ts'
import { openDriver } from '../../packages/oncekey/src/stores/redis/open-driver.ts'
import { BODIES, type ScriptName, scriptsWith } from '../../packages/oncekey/src/stores/redis/scripts/index.ts'
import { describeWith, serviceUrl } from './service.ts'

/** `describe`, where a Redis is there; skipped with a printed reason where not, a failure with CI=true. */
export const describeRedis = describeWith('ONCEKEY_TEST_REDIS')

export function redisUrl(): string {
  return serviceUrl('ONCEKEY_TEST_REDIS')
}

/** A client that fails its commands when the server is away, and not the process. */
export function redisClient(url: string = redisUrl(), options: object = {}): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: null, ...options })
  client.on('error', () => {})
  return client
}

export function unusedPrefix(): string {
  return `t${randomBytes(6).toString('hex')}:`
}

/** Call it inside `describeRedis`. */
export function freshPrefix(): string {
  const prefix = unusedPrefix()
  afterAll(async () => {
    const client = redisClient()
    try {
      await removeKeys(client, prefix)
    } finally {
      client.disconnect()
    }
  })
  return prefix
}

export async function removeKeys(client: Redis, prefix: string): Promise<void> {
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 }) as AsyncIterable<string[]>)
    if (keys.length > 0) await client.unlink(...keys)
}

/** A script's body with one thing changed. */
export interface Change {
  readonly script: ScriptName
  readonly from: string | RegExp
  readonly to: string
}

/** A clock that stands still until it is moved: microseconds in a key that only these scripts look at. */
export function standingClock(prefix: string): string {
  return `\nlocal us = tonumber(redis.call('GET', '${prefix}clock'))`
}

/** The store's own driver, with another clock or a fault planted in one of its scripts: the factory can have neither. */
export function driverWith(
  client: Redis,
  options: { readonly prefix: string; readonly clock?: string; readonly change?: Change; readonly retainMs?: number },
) {
  const { prefix, clock, change, retainMs = 86_400_000 } = options
  const bodies = { ...BODIES, ...(change ? { [change.script]: changed(BODIES[change.script], change) } : {}) }
  return openDriver(overIoredis(client), {
    prefix,
    retainMs,
    patienceMs: 3_000,
    scripts: scriptsWith(clock, bodies),
  })
}

function changed(body: string, { from, to, script }: Change): string {
  const made = body.replace(from, to)
  if (made === body) throw new Error(`the script ${script} has nothing like ${from}`)
  return made
}
