/** What only postgres.js does: queries that are sent when somebody awaits them, its own savepoints, its own settings. */
import postgres from 'postgres'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describePostgres, freshSchema, onPostgres } from '../../../../../test/support/postgres.ts'
import { fromPostgresJs } from './postgres-js.ts'

const OPENING = [{ text: 'savepoint of_ours', params: [] }]
const COMMIT = { commit: [], value: 'committed' } as const

describePostgres('a transaction of postgres.js', () => {
  const fresh = freshSchema()
  let sql: postgres.Sql

  beforeEach(async () => {
    await onPostgres(`drop table if exists ${fresh.schema}.t; create table ${fresh.schema}.t (n int)`)
    sql = postgres(fresh.url, { max: 2, onnotice: () => {}, connection: { search_path: fresh.schema } })
  })
  afterEach(() => sql.end({ timeout: 0.5 }))

  const within = (work: (tx: postgres.TransactionSql) => Promise<unknown>) =>
    fromPostgresJs(sql).transaction(OPENING, async (tx) => {
      await work(tx)
      return COMMIT
    })
  const kept = async () => (await sql`select n from t order by n`).map(({ n }) => n)

  it('takes templates, fragments and helpers as its own do', async () => {
    await within(async (tx) => {
      const filter = tx`where n > ${1}`
      await tx`insert into t ${tx([{ n: 1 }, { n: 2 }])}`
      expect(await tx`select n from t ${filter}`).toMatchObject([{ n: 2 }])
      expect(await tx`select ${tx.json({ a: 1 })}::jsonb as j, ${tx.array([1, 2])}::int[] as l`).toMatchObject([
        { j: { a: 1 }, l: [1, 2] },
      ])
    })
    expect(await kept()).toEqual([1, 2])
  })

  it('T7: a query that was written down in time and awaited too late is refused, and reaches nobody', async () => {
    // In an object, because to return or assign it from an async function would await it.
    const left: { query?: PromiseLike<unknown> } = {}
    await within(async (tx) => {
      left.query = tx`insert into t values (66)`
    })
    await expect((async () => await left.query)()).rejects.toMatchObject({ code: 'TX_CLOSED' })
    expect(await kept()).toEqual([])
  })

  it('T7: refuses COMMIT in a template', async () => {
    await expect(within(async (tx) => tx`commit`)).rejects.toMatchObject({ code: 'TX_CONTROL' })
    await expect(within(async (tx) => tx.prepare('x'))).rejects.toMatchObject({ code: 'TX_CONTROL' })
  })

  it('T7: lends a transaction and not the pool', async () => {
    await within(async (tx) => {
      for (const of of ['begin', 'reserve', 'end', 'close', 'listen', 'subscribe', 'release'])
        expect([of, Reflect.get(tx, of)]).toEqual([of, undefined])
    })
  })

  it('undoes a savepoint that throws, and keeps one that does not', async () => {
    await within(async (tx) => {
      await tx.savepoint(async (inner) => inner`insert into t values (1)`)
      await tx
        .savepoint('odd "name"', async (inner) => {
          await inner`insert into t values (2)`
          throw new Error('changed my mind')
        })
        .catch(() => {})
      await tx.savepoint((inner) => [inner`insert into t values (3)`, inner`insert into t values (4)`])
    })
    expect(await kept()).toEqual([1, 3, 4])
  })

  it('notifies when the transaction commits, and not before', async () => {
    const heard: string[] = []
    const { unlisten } = await sql.listen('of_ours', (payload) => heard.push(payload))
    await within((tx) => tx.notify('of_ours', 'committed'))
    await fromPostgresJs(sql).transaction(OPENING, async (tx) => {
      await tx.notify('of_ours', 'rolled back')
      return { rollback: true, value: undefined }
    })
    await expect.poll(() => heard).toEqual(['committed'])
    await unlisten()
  })

  it('needs no more than one connection, whether its types are fetched or not', async () => {
    for (const fetch_types of [true, false]) {
      const narrow = postgres(fresh.url, { max: 1, fetch_types, onnotice: () => {} })
      const database = fromPostgresJs(narrow)
      const all = Array.from({ length: 5 }, () => database.transaction(OPENING, async () => COMMIT))
      expect(await Promise.all(all)).toHaveLength(5)
      await narrow.end()
    }
  })

  it('lets `sql.end()` end while a rollback is still on its way', async () => {
    await fromPostgresJs(sql).transaction(OPENING, async () => ({ rollback: true, value: undefined }))
    await sql.end()
  })

  it('refuses an instance that changes whole rows', () => {
    const changing = postgres(fresh.url, { transform: { row: { from: (row: postgres.Row) => row } } })
    expect(() => fromPostgresJs(changing)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})
