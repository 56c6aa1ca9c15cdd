/** The store in Redis or Valkey: a claim with a lease, for work that calls something outside, in a store that may forget. */
import { type Duration, milliseconds } from '../../core/clock.ts'
import { type AfterFailure, DEFAULTS } from '../../core/policy.ts'
import type { Forgetful, Store } from '../../core/store.ts'
import { leased } from '../leased.ts'
import { connectionOf, type RedisClient } from './client.ts'
import { openDriver } from './open-driver.ts'

export type { RedisClient } from './client.ts'
export type { IoredisClient } from './ioredis.ts'
export type { NodeRedisClient, NodeRedisCluster } from './node-redis.ts'

export interface RedisOptions extends AfterFailure {
  /** What stands in front of our keys. Default `oncekey:`. */
  readonly prefix?: string
  /** How long a kept answer answers. Default 24h. */
  readonly retain?: Duration
  /** How long after that its key stays bound to its request. Default: not at all. */
  readonly tombstone?: Duration
  /** How long the work may take before its signal aborts and its outcome is held. Default 30s. */
  readonly work?: Duration
  /** How long a claim is honoured without a beat; a beat is sent at every third of it. Default 30s. */
  readonly lease?: Duration
  /** How long a claim may take before the answer is `STORE_UNAVAILABLE`. Default 1s. */
  readonly claimMs?: Duration
  /** How long a disposed store waits for work in progress before its signals abort. Default 10s. */
  readonly drain?: Duration
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
