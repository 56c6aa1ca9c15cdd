/** `redis://…`, `rediss://…` and `valkey://…`, through ioredis or node-redis. */
import type { Store } from '../core/store.ts'
import type { RedisClient } from '../stores/redis/index.ts'
import { afterOf, durationsOf, loadDriver, type Opener } from './opener.ts'

export const openRedis: Opener = {
  modes: ['lease'],
  async open(url, options) {
    const { name, module } = await loadDriver(DRIVERS, options.driver)
    const { redis } = await import('../stores/redis/index.ts')
    // Valkey speaks Redis' protocol; the libraries know that name alone.
    const address = url.replace(/^valkey(s?):/, 'redis$1:')
    const { client, end } = name === 'ioredis' ? byIoredis(module, address) : await byNodeRedis(module, address)
    const { schema } = options
    const store = redis(client, {
      ...durationsOf(options),
      ...(schema === undefined ? {} : { prefix: `${schema}:` }),
      ...afterOf(options),
    })
    return closing(store as Store<never>, end)
  },
}

const DRIVERS = [
  { name: 'ioredis', load: () => import('ioredis') },
  { name: 'redis', load: () => import('redis') },
] as const

interface Opened {
  readonly client: RedisClient
  readonly end: () => unknown
}

function byIoredis(module: unknown, address: string): Opened {
  const { Redis } = module as typeof import('ioredis')
  const client = new Redis(address)
  // What fails says so itself; without a listener the library prints every attempt to connect.
  client.on('error', () => {})
  return { client, end: () => client.disconnect() }
}

async function byNodeRedis(module: unknown, address: string): Promise<Opened> {
  const { createClient } = module as typeof import('redis')
  const client = createClient({ url: address })
  client.on('error', () => {})
  // It goes on trying until there is a server; what is asked for meanwhile is told that there is none.
  client.connect().catch(() => {})
  return { client, end: () => client.destroy() }
}

/** The store leaves its client alone; this one was opened for it. */
function closing(store: Store<never>, end: () => unknown): Store<never> {
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await end()
    },
  }
}
