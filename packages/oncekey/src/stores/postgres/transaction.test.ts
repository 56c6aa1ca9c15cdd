import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describePostgres, freshSchema } from '../../../../../test/support/postgres.ts'
import { once } from '../../core/once.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

describePostgres('transaction mode on PostgreSQL', () => {
  const place = freshSchema()
  let pool: pg.Pool
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: place.url })
    pool.on('error', () => {})
    await postgres(fromPg(pool), place).admin.migrate()
    await pool.query(`create table ${place.schema}.charge (id bigint generated always as identity, note text)`)
  })
  afterAll(() => pool.end())
  it('runs once and replays', async () => {
    const store = postgres(fromPg(pool), place)
    const go = () => once(store, { scope: 's', key: 'k', fingerprints: ['f'] }, async ({ tx }) => {
      const { rows } = await tx.query(`insert into ${place.schema}.charge (note) values ('a') returning id`)
      return { id: rows[0].id as string }
    })
    expect(await go()).toMatchObject({ kind: 'ran', value: { id: '1' }, fate: 'kept' })
    expect(await go()).toMatchObject({ kind: 'replayed', value: { id: '1' } })
    expect(await once(store, { scope: 's', key: 'k', fingerprints: ['g'] }, async () => 1)).toMatchObject({ kind: 'mismatch' })
    const all = await Promise.all(Array.from({ length: 30 }, (_, i) => once(store, { scope: 's', key: 'race', fingerprints: [i % 2 ? 'a' : 'b'] }, async ({ tx }) => {
      await tx.query(`insert into ${place.schema}.charge (note) values ('race')`)
      await tx.query('select pg_sleep(0.05)')
      return i
    })))
    const count: Record<string, number> = {}
    for (const { kind } of all) count[kind] = (count[kind] ?? 0) + 1
    console.log(count)
    expect(count.ran).toBe(1)
  })
})
