/** The clients of both libraries fit the store's own idea of them, without a cast; the grant says what Redis may do. */
import type { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { expect, expectTypeOf, test } from 'vitest'
import { databaseOnly, downstreamDoesNot } from '../../core/policy.ts'
import type { Forgetful, Leased, Store } from '../../core/store.ts'
import { type RedisClient, redis } from './index.ts'
import { scriptsWith } from './scripts/index.ts'

test('each client, and each cluster', () => {
  expectTypeOf<Redis>().toExtend<RedisClient>()
  expectTypeOf<Redis<'resp3'>>().toExtend<RedisClient>()
  expectTypeOf<Cluster>().toExtend<RedisClient>()
  const client = createClient()
  const cluster = createCluster({ rootNodes: [] })
  expectTypeOf(client).toExtend<RedisClient>()
  expectTypeOf(cluster).toExtend<RedisClient>()
  const resp2 = createClient({ RESP: 2 })
  expectTypeOf(resp2).toExtend<RedisClient>()
})

test('the grant may forget, and says so where that must not be', () => {
  const store = redis(createClient(), databaseOnly)
  expectTypeOf(store).toEqualTypeOf<Store<Forgetful>>()
  expectTypeOf(store).not.toExtend<Store<Leased & { mayForget?: never }>>()
  // @ts-expect-error what follows a failure has to be said
  expect(() => redis(createClient(), {})).toThrow('Nothing says what follows a failure')
})

test('the clock of the scripts is the server’s: the factory takes no other', () => {
  // @ts-expect-error tests of the scripts alone have another one
  const store = redis(createClient(), { ...databaseOnly, scripts: scriptsWith('local us = 0') })
  expect(store.name).toBe('redis')
  expect(scriptsWith().claim.text).toContain("redis.call('TIME')")
})

test('anything else is refused in words', () => {
  const other = {} as RedisClient
  expect(() => redis(other, downstreamDoesNot)).toThrow('no client of ioredis or node-redis')
  expect(() => redis(createClient(), { ...downstreamDoesNot, prefix: '{oncekey}:' })).toThrow('prefix')
})
