/** I4: records that came back from a backup: who is told, what becomes of them, and who has to be started again. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describePostgres, freshSchema } from '../../../../../test/support/postgres.ts'
import { never, operation } from '../../../../../test/support/postgres-charges.ts'
import { once } from '../../core/once.ts'
import { identify } from '../../core/operation.ts'
import { downstreamDedupes, fillPolicy } from '../../core/policy.ts'
import { fromPg } from '../database/pg.ts'
import { STATE } from '../row.ts'
import { postgres } from './index.ts'

const by = { who: 'an operator', why: 'the backup of last night' }

describePostgres('a PostgreSQL that was restored', () => {
  const place = freshSchema()
  let pool: pg.Pool
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: place.url, max: 10 })
    pool.on('error', () => {})
    await transaction().admin.migrate()
  })
  afterAll(() => pool.end())
  beforeEach(async () => {
    await pool.query(`truncate ${place.schema}.record, ${place.schema}.audit`)
    await pool.query(`update ${place.schema}.meta set restored_at = null, on_epoch_change = null`)
  })

  function transaction() {
    return postgres(fromPg(pool), { schema: place.schema })
  }
  function lease() {
    return postgres(fromPg(pool), { mode: 'lease', schema: place.schema, ...downstreamDedupes({ for: '24h' }) })
  }
  const stores = { transaction, lease } as const

  it('what was at work is unknown, with token, fence and end of deduplication; each is audited, and so is the store', async () => {
    const open = operation()
    await once(lease(), open, () => Promise.reject(new Error('a timeout'))).catch(() => {})
    const running = identify(operation())
    await pool.query(
      `insert into ${place.schema}.record values ($1, $2, now() + interval '1 day', now() + interval '1 hour', 5, $1, 2, '{"key":"k","retainMs":1}')`,
      [running.id, running.prints[0]],
    )
    const finished = operation()
    await once(transaction(), finished, async () => 'done')
    const gone = identify(operation())
    await pool.query(
      `insert into ${place.schema}.record values ($1, $2, now() - interval '1 s', null, 5, null, ${STATE.open}, '{"key":"k"}')`,
      [gone.id, gone.prints[0]],
    )
    const { admin } = transaction()
    expect(await admin.restored({ ...by, onEpochChange: 'refuse' })).toEqual({ unknown: 2 })
    const { rows } = await pool.query(
      `select state, token, fence, lease_end, expires_at > now() + interval '20 hours' as dedupes from ${place.schema}.record where k = any($1)`,
      [[running.id, identify(open).id]],
    )
    const unknown = { state: STATE.unknown, token: expect.any(String), fence: expect.any(String), lease_end: null }
    expect(rows).toEqual([unknown, unknown].map((row) => ({ ...row, dedupes: true })))
    for (const id of [running.id, identify(open).id])
      expect(await admin.find({ id })).toMatchObject({ state: 'unknown', why: 'the store was restored' })
    expect(await admin.find({ id: gone.id })).toBeUndefined()
    expect(await once(lease(), finished, never as never)).toMatchObject({ kind: 'replayed', value: 'done' })

    const entries = (await pool.query(`select k, action, state, label, who from ${place.schema}.audit order by state`))
      .rows
    expect(entries.map(({ action, state }) => [action, state])).toEqual([
      ['restored', STATE.hold],
      ['restored', STATE.open],
      ['restored', null],
    ])
    expect(entries[2]).toMatchObject({ k: '00000000-0000-0000-0000-000000000000', label: null })
    expect(JSON.parse(entries[0].label)).toMatchObject({ key: 'k' })
    expect(entries[0].who.toString()).toBe(by.who)
  })

  describe.each(['transaction', 'lease'] as const)('in %s mode', (mode) => {
    const open = stores[mode] as typeof transaction

    it('whoever says so knows the new epoch and goes on; a store that is opened later is told', async () => {
      const store = open()
      await once(store, operation(), async () => 1)
      expect(await store.restored?.()).toBeUndefined()
      const before = Date.now() - 5_000
      await store.admin.restored({ ...by, onEpochChange: 'run' })
      for (const told of [store, open()]) {
        const restored = await told.restored?.()
        expect(restored?.onEpochChange).toBe('run')
        expect(restored?.at.getTime()).toBeGreaterThan(before)
      }
      expect(await once(store, operation(), async () => 1)).toMatchObject({ kind: 'ran' })
      expect(await store.admin.sweep()).toMatchObject({ complete: true })
      await store.admin.reconciled(by)
      expect(await store.restored?.()).toBeUndefined()
      expect(await open().restored?.()).toBeUndefined()
    })

    it('a process from before finds out at its next sweep, and claims nothing from then on', async () => {
      const [before, admin] = [open(), open().admin]
      const kept = operation()
      await once(before, kept, async () => 1)
      await admin.restored({ ...by, onEpochChange: 'run' })
      expect(await once(before, operation(), async () => 1)).toMatchObject({ kind: 'ran' })
      const refused = expect.objectContaining({ code: 'SCHEMA_MISMATCH' })
      await expect(before.admin.sweep()).rejects.toEqual(refused)
      await expect(before.restored?.()).rejects.toEqual(refused)
      await expect(once(before, operation(), never as never)).rejects.toEqual(refused)
      const how = { policy: fillPolicy({}, before.defaults), repeatable: true }
      await expect(before.attempt(operation(), how, never as never)).rejects.toEqual(refused)
      await expect(before.admin.reconciled(by)).rejects.toEqual(refused)
      expect(await once(open(), kept, never as never)).toMatchObject({ kind: 'replayed' })
    })

    it('the end of the care is heard of by the next sweep', async () => {
      const [mine, theirs] = [open(), open()]
      await mine.admin.restored({ ...by, onEpochChange: 'refuse' })
      expect(await theirs.restored?.()).toMatchObject({ onEpochChange: 'refuse' })
      await mine.admin.reconciled(by)
      expect(await theirs.restored?.()).toMatchObject({ onEpochChange: 'refuse' })
      await theirs.admin.sweep()
      expect(await theirs.restored?.()).toBeUndefined()
    })

    it('it is read at the start and never per request', async () => {
      const database = fromPg(pool)
      let asked = 0
      const counting: typeof database = {
        ...database,
        query(statement) {
          if (statement.text.includes('restored_at')) asked += 1
          return database.query(statement)
        },
      }
      const store =
        mode === 'lease'
          ? postgres(counting, { mode, schema: place.schema, ...downstreamDedupes({ for: '24h' }) })
          : postgres(counting, { schema: place.schema })
      for (let at = 0; at < 5; at += 1) {
        await store.restored?.()
        await once(store as ReturnType<typeof transaction>, operation(), async () => 1)
      }
      expect(asked).toBe(1)
    })
  })

  it('a restore and its end are each written down once, with who and why', async () => {
    const { admin } = transaction()
    await admin.restored({ ...by, onEpochChange: 'run' })
    await admin.reconciled(by)
    await admin.reconciled(by)
    const { rows } = await pool.query(`select action, why from ${place.schema}.audit order by id`)
    expect(rows.map(({ action, why }) => [action, why.toString()])).toEqual([
      ['restored', by.why],
      ['reconciled', by.why],
    ])
  })
})
