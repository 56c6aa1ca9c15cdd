// A Redis of a test's own, that can be killed and started again on the same address with what it had written.
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, describe, onTestFinished } from 'vitest'
import type { RedisClient } from '../../packages/oncekey/src/stores/redis/index.ts'
import { redisProgram, redisServer } from '../../scripts/services/redis.mjs'
import { openRun } from '../../scripts/services/run.mjs'

const program = redisProgram()
if (program === undefined && process.env.CI === 'true') throw new Error('CI=true and there is no Redis on the machine')

export const describeRedisServers = describe.skipIf(program === undefined)

export interface OwnServer {
  readonly url: string
  readonly port: number
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** The same address and the same data. */
  start(): Promise<void>
}

/** Call it inside `describeRedisServers`; every server ends with the file. */
export function ownServers(): { open(settings?: readonly string[]): Promise<OwnServer> } {
  const run = openRun()
  let count = 0
  afterAll(() => run.stop())
  return {
    async open(settings = []) {
      const options = { program: program ?? '', name: `own-redis-${count++}`, settings }
      let server = await redisServer(run, options)
      const { url, port } = server
      return {
        url,
        port,
        async kill() {
          process.kill(server.pid, 'SIGKILL')
          await server.ended
        },
        async start() {
          server = await redisServer(run, { ...options, port })
        },
      }
    },
  }
}

/** As people make them: with the library's own defaults, and a listener so that a server that stops is no news. */
export const clients = [
  {
    library: 'ioredis',
    async open(url: string): Promise<RedisClient> {
      const client = new Redis(url)
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      return client
    },
  },
  {
    library: 'node-redis',
    async open(url: string): Promise<RedisClient> {
      const client = createClient({ url })
      client.on('error', () => {})
      onTestFinished(() => client.destroy())
      // While nobody answers it does not return; commands may be sent all the same.
      void client.connect().catch(() => {})
      return client
    },
  },
] as const
