/** The schema: made by the operator's word, once, whoever asks; and what it says to a release that must not touch it (I4). */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePostgres, freshDatabase } from '../../../../../test/support/postgres.ts'
import { never, operation } from '../../../../../test/support/postgres-charges.ts'
import { once } from '../../core/once.ts'
import { identify, type Operation } from '../../core/operation.ts'
import { valueCodec } from '../../core/receipt.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'
import { migrate } from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { namesIn } from './names.ts'

describePostgres('migrate', () => {
  const fresh = freshDatabase()
  let pool: pg.Pool
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: fresh.url, max: 12 })
    pool.on('error', () => {})
  })
  afterAll(() => pool.end())
  const attempt = (schema: string) => once(postgres(fromPg(pool), { schema }), operation(), async () => 'done')
  const rowsOf = async (sql: string) => (await pool.query(sql)).rows

  it('makes a record table of exactly eight columns, in this order, and no index but the key and BRIN', async () => {
    await postgres(fromPg(pool)).admin.migrate()
    expect(
      (
        await rowsOf(`select column_name from information_schema.columns
                      where table_schema = 'oncekey' and table_name = 'record' order by ordinal_position`)
      ).map((row) => row.column_name),
    ).toEqual(['k', 'fingerprint', 'expires_at', 'lease_end', 'fence', 'token', 'state', 'body'])
    const indexes = await rowsOf(
      `select indexdef from pg_indexes where schemaname = 'oncekey' and tablename = 'record'`,
    )
    expect(indexes).toHaveLength(2)
    expect(indexes.map((row) => row.indexdef).join()).toMatch(/brin \(expires_at\) WITH \(pages_per_range='?32'?\)/)
    expect(await once(postgres(fromPg(pool)), operation(), async () => 'done')).toMatchObject({ kind: 'ran' })
  })

  it.each(['plain', 'we"ird', "it's", 'a$1', 'Ünï cödé', 'back\\slash'])('a schema called %s works', async (schema) => {
    await migrate(fromPg(pool), { schema })
    expect(await attempt(schema)).toMatchObject({ kind: 'ran' })
  })

  it('ten that start at once make it once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => migrate(fromPg(pool), { schema: 'at_once' })))
    expect(await rowsOf('select version, name from at_once.migration')).toEqual([
      { version: 1, name: 'record' },
      { version: 2, name: 'meta' },
    ])
    expect(await rowsOf('select count(*)::int as n from at_once.meta')).toEqual([{ n: 1 }])
  })

  it('changes nothing when it is run again, and needs no right to create then', async () => {
    const schema = 'again'
    await migrate(fromPg(pool), { schema })
    const [before] = await rowsOf(`select epoch from ${schema}.meta`)
    await pool.query(
      `create role again_only login; grant usage on schema ${schema} to again_only; grant select on all tables in schema ${schema} to again_only`,
    )
    const url = new URL(fresh.url)
    url.username = 'again_only'
    const lesser = new pg.Pool({ connectionString: url.href, max: 1 })
    try {
      await migrate(fromPg(lesser), { schema })
    } finally {
      await lesser.end()
      await pool.query('drop owned by again_only; drop role again_only')
    }
    expect(await rowsOf(`select epoch from ${schema}.meta`)).toEqual([before])
  })

  it('a step that fails leaves nothing of itself, and the steps before it stand', async () => {
    const schema = 'half'
    const broken: Migration = {
      version: 3,
      name: 'broken',
      statements: ({ record }) => [`alter table ${record} add column extra int`, 'select 1 / 0'],
    }
    await migrate(fromPg(pool), { schema })
    await expect(migrate(fromPg(pool), { schema, steps: [...migrations, broken] })).rejects.toMatchObject({
      code: '22012',
    })
    expect(await rowsOf(`select version from ${schema}.migration`)).toHaveLength(migrations.length)
    expect(await attempt(schema)).toMatchObject({ kind: 'ran' })
  })

  it('the release before goes on working beside a schema that only grew', async () => {
    const schema = 'grown'
    await migrate(fromPg(pool), { schema })
    const store = postgres(fromPg(pool), { schema })
    expect(await once(store, operation(), async () => 'before')).toMatchObject({ kind: 'ran' })
    const added: Migration = {
      version: 3,
      name: 'step',
      statements: () => [`create table "${schema}".step (k uuid primary key)`],
    }
    await migrate(fromPg(pool), { schema, steps: [...migrations, added] })
    expect(await once(store, operation(), async () => 'after')).toMatchObject({ kind: 'ran' })
    expect(await attempt(schema)).toMatchObject({ kind: 'ran' })
  })

  describe('a schema of the first release, with records in it', () => {
    const first = migrations.slice(0, 1)
    /** The statements of that release, word for word. */
    const insertThen = (schema: string) => `
      insert into ${schema}.record (k, fingerprint, expires_at, lease_end, fence, token, state, body)
      values ($1::uuid, $2::uuid, pg_catalog.clock_timestamp() + $4::double precision * interval '1 millisecond', null, null, null, 4, $3::bytea)`
    const lookThen = (schema: string) => `
      select k::text as k, fingerprint::text as fingerprint, state, body,
             (state between 3 and 5 and expires_at <= clock_timestamp()) as over
        from ${schema}.record where k = $1::uuid`
    const schemaThen = (schema: string) => `
      select identity_scheme, min_reader, epoch::text as epoch,
             (select coalesce(max(version), 0) from ${schema}.migration) as version
        from ${schema}.meta`
    const finishThen = (schema: string, charge: Operation) => {
      const { id, prints } = identify(charge)
      return pool.query(insertThen(schema), [id, prints[0], valueCodec().encode('then'), 60_000])
    }

    it('is refused until it is migrated, with the word to say; then its answers answer', async () => {
      const schema = 'first'
      await migrate(fromPg(pool), { schema, steps: first })
      const charge = operation()
      await finishThen(schema, charge)
      const store = postgres(fromPg(pool), { schema })
      await expect(once(store, charge, never)).rejects.toMatchObject({
        code: 'SCHEMA_MISSING',
        details: { version: 1, needed: 2 },
      })
      const [before] = await rowsOf(`select epoch from ${schema}.meta`)
      await store.admin.migrate()
      expect(await rowsOf(`select epoch from ${schema}.meta`)).toEqual([before])
      expect(await once(store, charge, never)).toMatchObject({ kind: 'replayed', value: 'then' })
      expect(await store.restored?.()).toBeUndefined()
      expect(await store.admin.sweep()).toMatchObject({ removed: 0, complete: true })
    })

    it('once migrated, serves that release beside this one', async () => {
      const schema = 'beside'
      await migrate(fromPg(pool), { schema, steps: first })
      await migrate(fromPg(pool), { schema })
      expect(await rowsOf(schemaThen(schema))).toMatchObject([{ identity_scheme: 1, min_reader: 1, version: 2 }])
      const theirs = operation()
      await finishThen(schema, theirs)
      const store = postgres(fromPg(pool), { schema })
      expect(await once(store, theirs, never)).toMatchObject({ kind: 'replayed', value: 'then' })
      const ours = operation()
      await once(store, ours, async () => 'now')
      const { rows } = await pool.query(lookThen(schema), [identify(ours).id])
      expect(rows).toMatchObject([{ state: 4, over: false }])
      expect(valueCodec().decode(rows[0].body)).toBe('now')
    })
  })

  it('does not wait behind a lock for long: whoever needs the table meanwhile is let through', async () => {
    const schema = 'locked'
    await migrate(fromPg(pool), { schema })
    const holder = await pool.connect()
    await holder.query(`begin; lock table ${schema}.record in access share mode`)
    const steps = [
      ...migrations,
      {
        version: 3,
        name: 'alter',
        statements: () => [`alter table ${schema}.record alter column body set storage external`],
      },
    ]
    const migrating = migrate(fromPg(pool), { schema, steps })
    await expect
      .poll(() => rowsOf(`select 1 from pg_locks where not granted and relation = '${schema}.record'::regclass`))
      .toHaveLength(1)
    await expect
      .poll(() => rowsOf(`select 1 from pg_locks where not granted and relation = '${schema}.record'::regclass`), {
        timeout: 8_000,
      })
      .toHaveLength(0)
    await holder.query('commit')
    holder.release()
    await migrating
    expect(await rowsOf(`select max(version) as version from ${schema}.migration`)).toEqual([{ version: 3 }])
  })

  describe('at first use', () => {
    const first = (schema: string) => once(postgres(fromPg(pool), { schema }), operation(), never)

    it('a schema that is missing is said so, with what to do', async () => {
      await expect(first('nowhere')).rejects.toMatchObject({
        code: 'SCHEMA_MISSING',
        fix: expect.stringContaining('await store.admin.migrate()'),
      })
    })
    it('a store whose schema was missing works once it is there', async () => {
      const store = postgres(fromPg(pool), { schema: 'later' })
      await expect(once(store, operation(), never)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
      await store.admin.migrate()
      expect(await once(store, operation(), async () => 'done')).toMatchObject({ kind: 'ran' })
    })
    it('a schema that only later releases can read refuses', async () => {
      await migrate(fromPg(pool), { schema: 'newer' })
      await pool.query('update newer.meta set min_reader = 2')
      await expect(first('newer')).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
    })
    it('another identity scheme refuses: no record would be found', async () => {
      await migrate(fromPg(pool), { schema: 'other' })
      await pool.query('update other.meta set identity_scheme = 2')
      await expect(first('other')).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
    })
    it('it is read once, and never per request', async () => {
      await migrate(fromPg(pool), { schema: 'once' })
      const database = fromPg(pool)
      let asked = 0
      const counting: typeof database = {
        ...database,
        query: (statement) => {
          asked += 1
          return database.query(statement)
        },
      }
      const store = postgres(counting, { schema: 'once' })
      await once(store, operation(), async () => 1)
      const before = asked
      for (let at = 0; at < 5; at += 1) await once(store, operation(), async () => 1)
      expect(asked).toBe(before)
      expect(before).toBeGreaterThan(0)
    })
    it.each(['', 'x'.repeat(64), 'nul\0'])('a name that PostgreSQL cannot hold (%j) is refused at once', (schema) => {
      expect(() => postgres(fromPg(pool), { schema })).toThrow(/INVALID_OPTION/)
    })
    it('names are quoted and qualified', () => {
      expect(namesIn('we"ird').record).toBe('"we""ird".record')
    })
  })
})
