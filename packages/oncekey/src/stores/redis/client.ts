/** Which library a client is of, by its shape: neither is imported, so that neither has to be installed. */
import { OncekeyError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'
import { type IoredisClient, overIoredis } from './ioredis.ts'
import { type NodeRedisClient, type NodeRedisCluster, overNodeRedis, overNodeRedisCluster } from './node-redis.ts'

/** `new Redis()` and `new Cluster()` of ioredis; `createClient()` and `createCluster()` of node-redis, connected. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster

export function connectionOf(client: RedisClient): Connection {
  if (has(client, 'evalshaBuffer')) return overIoredis(client as IoredisClient)
  if (has(client, 'sendCommand') && has(client, 'nodeClient')) return overNodeRedisCluster(client as NodeRedisCluster)
  if (has(client, 'sendCommand') && 'isReady' in client) return overNodeRedis(client as NodeRedisClient)
  throw new OncekeyError('INVALID_OPTION', {
    what: 'This is no client of ioredis or node-redis.',
    where: 'redis',
    why: 'Claims are scripts, sent to the primary that has the key; the store has to know how.',
    fix: 'Give `new Redis()` or `new Cluster()` of ioredis, or `createClient()` or `createCluster()` of redis.',
  })
}

function has(client: unknown, method: string): boolean {
  return typeof (client as Record<string, unknown> | null)?.[method] === 'function'
}
