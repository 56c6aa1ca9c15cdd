/** Transaction mode and `begin()` through each query library, on the library's own statements (T5, T7, T8, T10, T15). */
import { randomUUID } from 'node:crypto'
import { drizzle as drizzleOverPg } from 'drizzle-orm/node-postgres'
import knexOver from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describePostgres, freshDatabase, onPostgres } from '../../../../../test/support/postgres.ts'
import { knexAt, type Library, libraries, poolAt, type Tables } from '../../../../../test/support/postgres-libraries.ts'
import { once } from '../../core/once.ts'
import { type FaultProxy, faultProxy } from '../../testing/proxy.ts'
import { sqlState } from '../database/sql-state.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPg, postgres } from './index.ts'

describePostgres.each(libraries)('the work of $name', ({ open }) => {
  const fresh = freshDatabase()
  let proxy: FaultProxy
  let library: Library

  beforeAll(async () => {
    const pool = poolAt(fresh.url)
    await postgres(fromPg(pool)).admin.migrate()
    await pool.query('create table account (owner_name text primary key)')
    await pool.end()
  })
  beforeEach(async () => {
    proxy = await faultProxy({ to: fresh.url, latencyMs: 3 })
    library = open(proxy.url)
  })
  afterEach(async () => {
    await library.end()
    await proxy[Symbol.asyncDispose]()
  })
  afterAll(() => onPostgres('drop table account', fresh.url))

  const operation = () => ({ scope: 'tenant', key: randomUUID(), fingerprints: ['body'] as const })
  const owners = async () =>
    (await onPostgres('select owner_name from account', fresh.url)).rows.map(({ owner_name }) => owner_name)

  it('a new key takes three flights, as many as by the driver alone, and a replay one', async () => {
    const store = postgres(library.database)
    const work = async ({ tx }: { readonly tx: unknown }) => void (await library.lazy(tx)())
    const charge = operation()
    await once(store, operation(), work)
    const before = proxy.flights.answered
    await once(store, charge, work)
    const between = proxy.flights.answered
    expect((await once(store, charge, work)).kind).toBe('replayed')
    expect([between - before, proxy.flights.answered - between]).toEqual([3, 1])
  })

  it('commits with the answer, and a repeat gets that', async () => {
    const store = postgres(library.database)
    const owner = randomUUID()
    const charge = operation()
    const open = () => once(store, charge, async ({ tx }) => void (await library.insert(tx, owner)))
    expect((await open()).kind).toBe('ran')
    expect((await open()).kind).toBe('replayed')
    expect(await owners()).toContain(owner)
  })

  it('a nested transaction is a savepoint: what it wrote is undone, and the rest commits', async () => {
    const store = postgres(library.database)
    const [kept, undone] = [randomUUID(), randomUUID()]
    const thrown = new Error('of the part')
    await once(store, operation(), async ({ tx }) => {
      await library.insert(tx, kept)
      await expect(
        library.nested(tx, async (inner) => {
          await library.insert(inner, undone)
          throw thrown
        }),
      ).rejects.toBe(thrown)
    })
    expect(await owners()).toContain(kept)
    expect(await owners()).not.toContain(undone)
  })

  it('T8: a unique violation of the user, wrapped or not, is the user’s own', async () => {
    const store = postgres(library.database)
    const owner = randomUUID()
    const charge = operation()
    const twice = async ({ tx }: { readonly tx: unknown }) => {
      await library.insert(tx, owner)
      await library.insert(tx, owner)
    }
    await expect(once(store, charge, twice)).rejects.toSatisfy((error) => sqlState(error) === '23505')
    expect(await owners()).not.toContain(owner)
    expect((await once(store, charge, async ({ tx }) => void (await library.insert(tx, owner)))).kind).toBe('ran')
  })

  it('T10: a failed statement that the work swallowed is told, and nothing is kept', async () => {
    const store = postgres(library.database)
    const owner = randomUUID()
    const charge = operation()
    const swallows = async ({ tx }: { readonly tx: unknown }) => {
      await library.insert(tx, owner)
      await library.insert(tx, owner).catch(() => {})
    }
    // Behind a savepoint the answer stands without the writes.
    expect(await once(store, charge, swallows)).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await owners()).not.toContain(owner)
  })

  it('T7: a query that was built in the work and is sent after it is refused', async () => {
    const store = postgres(library.database)
    let late = (): PromiseLike<unknown> => Promise.resolve()
    let later = late
    await once(store, operation(), async ({ tx }) => {
      late = library.lazy(tx)
      later = () => library.lazy(tx)()
    })
    for (const query of [late, later])
      await expect((async () => query())()).rejects.toSatisfy((error) => /TX_CLOSED/.test(chain(error)))
  })

  it('T11: COMMIT whose answer is lost is answered from the record', async () => {
    const store = postgres(library.database)
    const owner = randomUUID()
    await once(store, operation(), async ({ tx }) => void (await library.insert(tx, randomUUID())))
    proxy.next(/commit\0/, { kind: 'cut', at: 'answer' })
    const charge = operation()
    expect((await once(store, charge, async ({ tx }) => void (await library.insert(tx, owner)))).kind).toBe('replayed')
    expect(await owners()).toContain(owner)
  })

  it('T15: joins a transaction that the library itself has opened', async () => {
    const store = postgres(library.database)
    const [owner, charge] = [randomUUID(), operation()]
    const join = () =>
      library.transaction((tx) =>
        once(store.within(tx), charge, async (grant) => void (await library.insert(grant.tx, owner))),
      )
    expect(await join()).toMatchObject({ kind: 'ran' })
    expect(await join()).toMatchObject({ kind: 'replayed' })
    expect(await owners()).toContain(owner)
  })

  it('lease mode: begin() gives the library’s own transaction, which commits with the answer', async () => {
    const store = postgres(library.database, { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })
    const [owner, charge] = [randomUUID(), operation()]
    const open = () => once(store, charge, async (grant) => void (await library.insert(await grant.begin(), owner)))
    expect((await open()).kind).toBe('ran')
    expect((await open()).kind).toBe('replayed')
    expect(await owners()).toContain(owner)
    await store[Symbol.asyncDispose]()
  })
})

describePostgres('what only one library has', () => {
  const fresh = freshDatabase()
  beforeAll(async () => {
    const pool = poolAt(fresh.url)
    await postgres(fromPg(pool)).admin.migrate()
    await pool.end()
  })
  const operation = { scope: 'tenant', key: 'k', fingerprints: ['body'] as const }

  it.each(['commit', 'rollback'] as const)('T7: Knex’s %s() is refused aloud', async (method) => {
    const db = knexAt(fresh.url)
    const store = postgres(fromKnex(db))
    await expect(once(store, operation, ({ tx }) => tx[method]())).rejects.toMatchObject({ code: 'TX_CONTROL' })
    await db.destroy()
  })

  it('Knex over a pool of pg itself', async () => {
    const pool = poolAt(fresh.url)
    const db = knexOver({ client: 'pg', connectionPool: pool } as never)
    const database = fromKnex(db)
    expect(database.connections).toBe(4)
    const { kind } = await once(postgres(database), { ...operation, key: 'own pool' }, ({ tx }) => tx.raw('select 1'))
    expect(kind).toBe('ran')
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
    await pool.end()
  })

  it('Kysely’s stream() is refused in words: its cursor belongs to its own connections', async () => {
    const pool = poolAt(fresh.url)
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    const store = postgres(fromKysely(db, fromPg(pool)))
    const work = async ({ tx }: { readonly tx: typeof db }) => {
      for await (const _ of tx.selectFrom('account').selectAll().stream()) throw new Error('there was a row')
    }
    await expect(once(store, operation, work)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await db.destroy()
  })

  it('Drizzle’s rollback() undoes all of the work, and the key is free', async () => {
    const pool = poolAt(fresh.url)
    const store = postgres(fromDrizzle(drizzleOverPg(pool)))
    const gives = async ({ tx }: { readonly tx: { rollback(): never } }) => tx.rollback()
    await expect(once(store, operation, gives)).rejects.toThrow('Rollback')
    expect((await once(store, operation, async () => 'again')).kind).toBe('ran')
    await pool.end()
  })

  it('what cannot be reached is said at once', async () => {
    const client = new pg.Client(fresh.url)
    expect(() => fromKnex(knexOver({ client: 'mysql2' }))).toThrow(/INVALID_OPTION.*client: 'pg'/)
    expect(() =>
      fromKysely(new Kysely({ dialect: new PostgresDialect({ pool: poolAt(fresh.url) }) }), undefined as never),
    ).toThrow(/INVALID_OPTION.*fromPg\(pool\)/)
    expect(() => fromDrizzle(drizzleOverPg.mock())).toThrow(/INVALID_OPTION.*node-postgres/)
    expect(() => fromDrizzle(drizzleOverPg(client))).toThrow(/INVALID_OPTION.*node-postgres/)
  })
})

/** Every message and code, whatever wraps what. */
function chain(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown }
  return `${code} ${message} ${chain(cause)}`
}
