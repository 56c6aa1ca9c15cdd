import { describe, it, vi } from 'vitest'
import { postgresGround, sqliteGround } from './support/charge-servers.ts'
import { describePostgres } from './support/postgres.ts'
import { changedBodies, race } from './support/race.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

const CASES = (['transaction', 'lease'] as const).flatMap((MODE) =>
  ['hono', 'express', 'express4'].map((FRAMEWORK) => ({ MODE, FRAMEWORK })),
)

describe.each(CASES)('on $FRAMEWORK in $MODE mode', ({ MODE, FRAMEWORK }) => {
  it('SQLite: one charge each round', async () => race(await sqliteGround(), { MODE, FRAMEWORK }))
  it('SQLite: changed bodies get 422', async () => changedBodies(await sqliteGround(), { MODE, FRAMEWORK }))
})
describePostgres.each(CASES)('on $FRAMEWORK in $MODE mode', ({ MODE, FRAMEWORK }) => {
  it('Postgres: one charge each round', async () => race(await postgresGround(MODE), { MODE, FRAMEWORK }))
  it('Postgres: changed bodies get 422', async () => changedBodies(await postgresGround(MODE), { MODE, FRAMEWORK }))
})
