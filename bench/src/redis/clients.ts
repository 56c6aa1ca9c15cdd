// One connection of each client, with what everybody is measured against: a plain SET and GET of as many bytes.
import { Redis } from 'ioredis'
import { downstreamDedupes } from 'oncekey'
import { redis } from 'oncekey/redis'
import { createClient } from 'redis'
import { article } from './article.ts'

const PREFIX = 'bench:'
/** As long as one of our finished records. */
const RECORD = Buffer.alloc(90, 'x')
const RETAIN_MS = 3_600_000
const after = { ...downstreamDedupes({ for: '24h' }), retain: RETAIN_MS, prefix: PREFIX } as const

export interface Bench extends AsyncDisposable {
  readonly name: string
  set(key: string): Promise<unknown>
  get(key: string): Promise<unknown>
  readonly store: ReturnType<typeof redis>
  readonly article: ReturnType<typeof article>
}

export async function byIoredis(url: string): Promise<Bench> {
  const client = new Redis(url)
  const store = redis(client, after)
  await store.admin.migrate()
  return {
    name: 'ioredis',
    set: (key) => client.set(`${PREFIX}plain:${key}`, RECORD, 'PX', RETAIN_MS),
    get: (key) => client.getBuffer(`${PREFIX}plain:${key}`),
    store,
    article: article({
      claim: (key, value, seconds) => client.set(key, value, 'EX', seconds, 'NX', 'GET'),
      script: async (sha, key, args) => client.evalsha(sha, 1, key, ...args),
      load: async (text) => String(await client.script('LOAD', text)),
    }),
    async [Symbol.asyncDispose]() {
      for await (const keys of client.scanStream({ match: `${PREFIX}*`, count: 1_000 }) as AsyncIterable<string[]>)
        if (keys.length > 0) await client.unlink(...keys)
      client.disconnect()
    },
  }
}

export async function byNodeRedis(url: string): Promise<Bench> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  const store = redis(client, after)
  await store.admin.migrate()
  return {
    name: 'node-redis',
    set: (key) => client.set(`${PREFIX}plain:${key}`, RECORD, { expiration: { type: 'PX', value: RETAIN_MS } }),
    get: (key) => client.get(`${PREFIX}plain:${key}`),
    store,
    article: article({
      claim: (key, value, seconds) =>
        client.set(key, value, { condition: 'NX', GET: true, expiration: { type: 'EX', value: seconds } }),
      script: (sha, key, args) => client.evalSha(sha, { keys: [key], arguments: [...args] }),
      load: (text) => client.scriptLoad(text),
    }),
    async [Symbol.asyncDispose]() {
      for await (const keys of client.scanIterator({ MATCH: `${PREFIX}*`, COUNT: 1_000 }))
        if (keys.length > 0) await client.unlink(keys)
      client.destroy()
    },
  }
}
