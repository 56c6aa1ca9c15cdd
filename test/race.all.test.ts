import { describe, it, vi } from 'vitest'
import type { Arena } from './support/charges/charging.ts'
import { postgresArenas } from './support/grounds/postgres.ts'
import { sqliteArenas } from './support/grounds/sqlite.ts'
import { describePostgres } from './support/postgres.ts'
import { changedBodies, race } from './support/race.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

const FRAMEWORKS = ['hono', 'express', 'express4']

describe.each(sqliteArenas)('$name, $mode mode', onEach)
describePostgres.each(postgresArenas)('$name, $mode mode', onEach)

function onEach({ mode: MODE, ground }: Arena): void {
  describe.each(FRAMEWORKS)('on %s', (FRAMEWORK) => {
    it('one charge each round', async () => race(await ground(), { MODE, FRAMEWORK }))
    it('changed bodies get 422', async () => changedBodies(await ground(), { MODE, FRAMEWORK }))
  })
}
