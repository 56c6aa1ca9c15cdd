import { describe, it, vi } from 'vitest'
import type { Arena } from './support/charges/charging.ts'
import { postgresArenas } from './support/grounds/postgres.ts'
import { redisArena } from './support/grounds/redis.ts'
import { sqliteArenas } from './support/grounds/sqlite.ts'
import { describePostgres } from './support/postgres.ts'
import { changedBodies, race } from './support/race.ts'
import { describeRedis } from './support/redis.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

describe('a hundred identical requests at two processes end in one charge each round (idempot-dev/idempot-js#182)', () => {
  describe.each(sqliteArenas)('$name, $mode mode', (arena) => run(arena, 'hono', 'express'))
  describePostgres.each(postgresArenas)('$name, $mode mode', (arena) => run(arena, 'express', 'hono'))
  describeRedis('Redis, lease mode', () => {
    it('on hono', async () => race(await redisArena.ground(), { MODE: 'lease', FRAMEWORK: 'hono' }))
  })
})

function run({ mode: MODE, ground }: Arena, racing: string, changing: string): void {
  it(`on ${racing}`, async () => race(await ground(), { MODE, FRAMEWORK: racing }))
  it('while fifty changed bodies get 422 (idempot-dev/idempot-js#183)', async () =>
    changedBodies(await ground(), { MODE, FRAMEWORK: changing }))
}
