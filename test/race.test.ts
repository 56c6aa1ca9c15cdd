import { describe, it, vi } from 'vitest'
import { postgresGround, sqliteGround } from './support/charge-servers.ts'
import { describePostgres } from './support/postgres.ts'
import { changedBodies, race } from './support/race.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

const MODES = ['transaction', 'lease'] as const

describe('a hundred identical requests at two processes end in one charge each round (idempot-dev/idempot-js#182)', () => {
  describe.each(MODES)('SQLite, %s mode', (MODE) => {
    it('on Hono', async () => race(await sqliteGround(), { MODE, FRAMEWORK: 'hono' }))
    it('while fifty changed bodies get 422 (idempot-dev/idempot-js#183)', async () =>
      changedBodies(await sqliteGround(), { MODE, FRAMEWORK: 'express' }))
  })
  describePostgres.each(MODES)('Postgres, %s mode', (MODE) => {
    it('on Express', async () => race(await postgresGround(MODE), { MODE, FRAMEWORK: 'express' }))
    it('while fifty changed bodies get 422 (idempot-dev/idempot-js#183)', async () =>
      changedBodies(await postgresGround(MODE), { MODE, FRAMEWORK: 'hono' }))
  })
})
