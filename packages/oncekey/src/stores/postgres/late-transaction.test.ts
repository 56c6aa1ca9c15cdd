/** L1 on a real server: the user's writes and the answer are there together, and beats get through meanwhile. */
import { beforeAll, expect, it } from 'vitest'
import { dedupes, repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres, onPostgres } from '../../../../../test/support/postgres.ts'
import { sleep } from '../../core/clock.ts'
import { once } from '../../core/once.ts'
import type { SeenRecord } from '../../core/record.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

const receipt = Uint8Array.of(1, 2, 3)

describePostgres('the transaction of a lease on PostgreSQL', () => {
  const port = freshLeasePort({ connections: 3 })
  const table = () => `${port.schema}.charge`

  beforeAll(async () => {
    await port.pool.query(`create table ${table()} (note text, unique (note) deferrable initially deferred)`)
  })
  async function charges(note: string): Promise<number> {
    const { rows } = await port.pool.query(`select count(*)::int as n from ${table()} where note = $1`, [note])
    return rows[0].n
  }
  async function opened(note: string) {
    const owned = wanted({ policy: { after: dedupes } })
    const held = await port.won(owned)
    const late = await port.driver.begin(held)
    await late.tx.query(`insert into ${table()} values ($1)`, [note])
    return { owned, held, late }
  }

  it('commits its writes together with the answer', async () => {
    const { owned, late } = await opened('together')
    expect(await charges('together')).toBe(0)
    expect(await late.complete({ receipt })).toBe('done')
    expect(await charges('together')).toBe(1)
    expect(await port.told(repeat(owned))).toBe('finished')
  })

  it('fails inside SQL where the lease was lost, so that nothing is left of it (KanishJebaMathewM/Truxify#5912)', async () => {
    const { owned, late } = await opened('lost')
    await port.set(owned.id, 'lease_end = clock_timestamp()')
    const taker = await port.won(repeat(owned))
    expect(await late.complete({ receipt })).toMatchObject({ token: taker.token, record: { state: 'running' } })
    expect(await charges('lost')).toBe(0)
    expect(await port.driver.complete(taker, { receipt })).toBe('done')
  })

  it('rolls back, and the claim goes on', async () => {
    const { held, late } = await opened('undone')
    await late.rollback()
    expect(await charges('undone')).toBe(0)
    expect(await port.driver.complete(held, { receipt })).toBe('done')
  })

  it('lets an error of the user’s own at COMMIT out as it is, and leaves the claim running', async () => {
    await port.pool.query(`insert into ${table()} values ('twice')`)
    const { owned, late } = await opened('twice')
    await expect(late.complete({ receipt })).rejects.toMatchObject({ code: '23505' })
    expect(((await port.driver.read(owned.id)) as SeenRecord).record.state).toBe('running')
  })

  it('knows a division by zero of the user’s, at COMMIT, from a lost claim', async () => {
    await port.pool.query(`
      create function ${port.schema}.divide() returns trigger language plpgsql as 'begin perform 1 / 0; return null; end';
      create table ${port.schema}.divided (n int);
      create constraint trigger t after insert on ${port.schema}.divided deferrable initially deferred
        for each row execute function ${port.schema}.divide()`)
    const { late } = await opened('divided')
    await late.tx.query(`insert into ${port.schema}.divided values (1)`)
    await expect(late.complete({ receipt })).rejects.toMatchObject({ code: '22012' })
    expect(await charges('divided')).toBe(0)
  })

  it('is not broken by SET ROLE and search_path of the work (T14)', async () => {
    const role = `r_${port.schema}`
    await onPostgres(`create role ${role}`)
    try {
      const { owned, late } = await opened('lowered')
      await late.tx.query(`set local role ${role}`)
      await late.tx.query('set local search_path = nowhere')
      expect(await late.complete({ receipt })).toBe('done')
      expect(await port.told(repeat(owned))).toBe('finished')
    } finally {
      await onPostgres(`drop role ${role}`)
    }
  })

  it('leaves connections for beats: with more transactions than the pool has, every claim outlives its lease', async () => {
    const store = postgres(fromPg(port.pool), { mode: 'lease', schema: port.schema, lease: '900ms', ...dedupes })
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, (_, at) =>
        once(store, { scope: 's', key: `slow-${at}`, fingerprints: ['f'] }, async ({ begin, childKey }) => {
          const tx = await begin()
          await tx.query(`insert into ${table()} values ($1)`, [`slow-${at}`])
          await sleep(1_500)
          // Throws where no beat got through for a whole lease (L2).
          childKey('bank')
          return at
        }),
      ),
    )
    expect(outcomes.map(({ kind }) => kind)).toEqual(['ran', 'ran', 'ran', 'ran'])
    expect(await charges('slow-0')).toBe(1)
  })

  it('takes beats on connections of their own, where it is given them', async () => {
    const beats: string[] = []
    const database = fromPg(port.pool)
    const store = postgres(database, {
      mode: 'lease',
      schema: port.schema,
      lease: '300ms',
      ...dedupes,
      beats: {
        query(statement) {
          beats.push(statement.text)
          return database.query(statement)
        },
      },
    })
    await once(store, { scope: 's', key: 'beaten', fingerprints: ['f'] }, () => sleep(500))
    expect(beats.length).toBeGreaterThan(0)
  })
})
