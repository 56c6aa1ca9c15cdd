/** The store in Redis or Valkey: a claim with a lease, for work that calls something outside, in a store that may forget. */
import { milliseconds } from '../../core/clock.ts'
import { DEFAULTS } from '../../core/policy.ts'
import type { Forgetful, Store } from '../../core/store.ts'
import { type LeasedOptions, leased } from '../leased.ts'
import { connectionOf, type RedisClient } from './client.ts'
import { openDriver } from './open-driver.ts'

export type { RedisClient } from './client.ts'
export type { IoredisClient } from './ioredis.ts'
export type { NodeRedisClient, NodeRedisCluster } from './node-redis.ts'

export interface RedisOptions extends LeasedOptions {
  /** What stands in front of our keys. Default `oncekey:`. */
  readonly prefix?: string
}

/**
 * `client`: `new Redis()` or `new Cluster()` of ioredis, `createClient()` or `createCluster()` of redis, connected.
 * It is left open when the store is disposed. What follows a failure has to be said: `downstreamDedupes({ for: '24h' })`,
 * `downstreamDoesNot` or `databaseOnly`.
 */
export function redis(client: RedisClient, options: RedisOptions): Store<Forgetful> {
  const { prefix = 'oncekey:', retain = DEFAULTS.retainMs, claimMs = 1_000 } = options
  const connection = connectionOf(client)
  const driver = openDriver(connection, {
    prefix,
    retainMs: milliseconds(retain, 'retain'),
    patienceMs: milliseconds(claimMs, 'claimMs'),
  })
  return leased(driver, options)
}
