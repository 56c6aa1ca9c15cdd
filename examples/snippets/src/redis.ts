// Redis and Valkey, by both clients, alone and in a cluster; and where a store that may forget is refused by its type.
import { Cluster, Redis } from 'ioredis'
import { downstreamDedupes, type Leased, type Operation, once, type Store } from 'oncekey'
import { redis } from 'oncekey/redis'
import { createClient } from 'redis'
import type { Bank } from './frameworks.ts'

export function byIoredis(url: string, bank: Bank, prefix = 'shop:') {
  // #region ioredis
  const client = new Redis(url)
  client.on('error', console.error)
  const store = redis(client, { prefix, retain: '24h', ...downstreamDedupes({ for: '24h' }) })

  function charge(operation: Operation, amount: number) {
    return once(store, operation, async (grant) => {
      // The bank knows this key too: whoever takes over after us asks for the same charge again.
      return bank.charge(grant.childKey('charge'), amount, grant.signal)
    })
  }
  // #endregion
  return { client, store, charge }
}

export async function byNodeRedis(url: string, prefix: string) {
  // #region node-redis
  const client = createClient({ url })
  client.on('error', console.error) // without it node-redis ends the process when its server does
  await client.connect()
  const store = redis(client, { prefix, ...downstreamDedupes({ for: '24h' }) })
  // #endregion
  return { client, store }
}

export function inCluster() {
  // #region cluster
  const client = new Cluster([{ host: 'redis-1', port: 6379 }])
  const store = redis(client, downstreamDedupes({ for: '24h' }))
  // #endregion
  return { client, store }
}

// #region never-forget
function payouts(store: Store<Leased & { readonly mayForget?: never }>) {
  return store // memory, Postgres, MySQL, SQLite, DynamoDB: they compile here
}
// #endregion

export function refused(store: ReturnType<typeof byIoredis>['store']) {
  // @ts-expect-error a store that may forget does not
  return payouts(store)
}
