import { Redis } from 'ioredis'
import { downstreamDedupes } from 'oncekey'
import { redis } from 'oncekey/redis'
import { createClient } from 'redis'
import type { Env, Serve } from './charging.ts'

/** The charge is made outside of the record: by something that knows each child key once. */
export async function open(serve: Serve, { STORE = '', PREFIX = '', CLIENT, LEASE = '30s' }: Env): Promise<void> {
  const apart = new Redis(STORE)
  apart.on('error', () => {})
  const options = { prefix: `${PREFIX}record:`, lease: LEASE as '30s', ...downstreamDedupes({ for: '24h' }) }
  return serve(redis(await client(STORE, CLIENT), options), async (grant) => {
    await apart.incr(`${PREFIX}starts`)
    return () => apart.sadd(`${PREFIX}charges`, grant.childKey('charge'))
  })
}

async function client(url: string, library: string | undefined) {
  if (library === 'node-redis') {
    const opened = createClient({ url })
    opened.on('error', () => {})
    await opened.connect()
    return opened
  }
  const opened = new Redis(url)
  opened.on('error', () => {})
  return opened
}
