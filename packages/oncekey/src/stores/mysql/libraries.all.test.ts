/** Transaction mode and `begin()` on MariaDB through each query library, in the library's own words, held to the store contract (T5, T7, T8, T15). */
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { drizzle } from 'drizzle-orm/mysql2'
import knexOver from 'knex'
import { Kysely, MysqlDialect, sql } from 'kysely'
import { createPool } from 'mysql2'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeMariadb, freshMariadb, onMariadb } from '../../../../../test/support/mariadb.ts'
import { once } from '../../core/once.ts'
import type { InTransaction } from '../../core/store.ts'
import { faultProxy } from '../../testing/proxy.ts'
import type { Settings, Subject } from '../../testing/store-contract/subject.ts'
import { storeContract } from '../../testing/store-contract.ts'
import type { Database } from '../database/database.ts'
import { mysqlError } from '../database/mysql-error.ts'
import { fromDrizzle, fromKnex, fromKysely, fromMysql2, mysql } from './index.ts'

interface Tables {
  readonly effect: { readonly mark: string }
}
const effect = mysqlTable('effect', { mark: varchar({ length: 200 }).notNull() })

/** What a test does with each library, in that library's own words. */
interface Library {
  readonly database: Database<unknown>
  insert(tx: unknown, mark: string): Promise<unknown>
  /** Sent when it is called; what is built is built at once. */
  lazy(tx: unknown): () => PromiseLike<unknown>
  run(tx: unknown, sql: string): Promise<unknown>
  nested(tx: unknown, body: (inner: unknown) => Promise<unknown>): Promise<unknown>
  /** A transaction of the library's own. */
  transaction(body: (tx: unknown) => Promise<unknown>): Promise<unknown>
  end(): Promise<unknown>
}

const libraries: readonly { readonly name: string; open(url: string, connections?: number): Library }[] = [
  { name: 'Kysely', open: kysely },
  { name: 'Drizzle', open: drizzled },
  { name: 'Knex', open: knex },
]

describeMariadb.each(libraries)('MariaDB through $name', ({ name, open }) => {
  const fresh = freshMariadb()
  let library: Library

  beforeAll(async () => {
    const first = open(fresh.url)
    await mysql(first.database).admin.migrate()
    await first.end()
    await onMariadb('create table effect (mark varchar(200) not null unique) engine = InnoDB', fresh.url)
  })
  beforeEach(async () => {
    library = open(fresh.url)
    await onMariadb('delete from oncekey_record', fresh.url)
  })
  afterEach(() => library.end())

  const operation = () => ({ scope: 'tenant', key: randomUUID(), fingerprints: ['body'] as const })
  const count = async (mark: string) =>
    (await onMariadb(`select mark from effect where mark = '${mark}'`, fresh.url)).length

  it('a new key takes as many flights as by the driver alone, and a replay one', async () => {
    const proxy = await faultProxy({ to: fresh.url, latencyMs: 5 })
    const through = open(proxy.url, 1)
    const pool = createPool({ uri: proxy.url, connectionLimit: 1 })
    const select = "select mark from effect where mark = 'none'"
    const byDriver = await flights(fromMysql2(pool), (tx) => tx.query(select))
    expect(await flights(through.database, (tx) => through.run(tx, select))).toEqual(byDriver)
    expect(byDriver.replay).toBe(1)
    expect(byDriver.fresh).toBeLessThanOrEqual(6)
    pool.end()
    await through.end()
    await proxy[Symbol.asyncDispose]()

    async function flights<Tx>(database: Database<Tx>, ask: (tx: Tx) => Promise<unknown>) {
      const store = mysql(database)
      const work = async ({ tx }: { readonly tx: Tx }) => void (await ask(tx))
      await once(store, operation(), work)
      const charge = operation()
      const before = proxy.flights.answered
      await once(store, charge, work)
      const between = proxy.flights.answered
      expect((await once(store, charge, work)).kind).toBe('replayed')
      return { fresh: between - before, replay: proxy.flights.answered - between }
    }
  })

  it('a nested transaction is a savepoint: what it wrote is undone, and the rest commits', async () => {
    const [kept, undone] = [randomUUID(), randomUUID()]
    const thrown = new Error('of the part')
    await once(mysql(library.database), operation(), async ({ tx }) => {
      await library.insert(tx, kept)
      const part = library.nested(tx, async (inner) => {
        await library.insert(inner, undone)
        throw thrown
      })
      await expect(part).rejects.toBe(thrown)
    })
    expect([await count(kept), await count(undone)]).toEqual([1, 0])
  })

  it('T8: a unique violation of the user, wrapped or not, is the user’s own', async () => {
    const [charge, mark] = [operation(), randomUUID()]
    const store = mysql(library.database)
    const twice = async ({ tx }: { readonly tx: unknown }) => {
      await library.insert(tx, mark)
      await library.insert(tx, mark)
    }
    await expect(once(store, charge, twice)).rejects.toSatisfy((error) => mysqlError(error)?.errno === 1062)
    expect((await once(store, charge, async ({ tx }) => void (await library.insert(tx, mark)))).kind).toBe('ran')
    expect(await count(mark)).toBe(1)
  })

  it('T7: COMMIT by the work, and a query that was built in it and is sent after it, are refused', async () => {
    const store = mysql(library.database)
    for (const control of ['commit', 'rollback'])
      await expect(once(store, operation(), ({ tx }) => library.run(tx, control))).rejects.toSatisfy((error) =>
        /TX_CONTROL/.test(chain(error)),
      )
    let late = (): PromiseLike<unknown> => Promise.resolve()
    let later = late
    await once(store, operation(), async ({ tx }) => {
      late = library.lazy(tx)
      later = () => library.lazy(tx)()
    })
    for (const query of [late, later])
      await expect((async () => query())()).rejects.toSatisfy((error) => /TX_CLOSED/.test(chain(error)))
  })

  it('T15: joins a transaction that the library itself has opened', async () => {
    const store = mysql(library.database)
    const [mark, charge] = [randomUUID(), operation()]
    const join = () =>
      library.transaction((tx) =>
        once(store.within(tx), charge, async (grant) => void (await library.insert(grant.tx, mark))),
      )
    expect(await join()).toMatchObject({ kind: 'ran' })
    expect(await join()).toMatchObject({ kind: 'replayed' })
    expect(await count(mark)).toBe(1)
  })

  it('lease mode: begin() gives the library’s own transaction, which commits with the answer', async () => {
    const store = mysql(library.database, { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })
    const [mark, charge] = [randomUUID(), operation()]
    const open = () => once(store, charge, async (grant) => void (await library.insert(await grant.begin(), mark)))
    expect((await open()).kind).toBe('ran')
    expect((await open()).kind).toBe('replayed')
    expect(await count(mark)).toBe(1)
    await store[Symbol.asyncDispose]()
  })

  function make({ retain, work, claimMs, drain }: Settings): Subject<InTransaction<unknown>> {
    const told = Object.entries({ retain, work, claimMs, drain }).filter(([, value]) => value !== undefined)
    const factory = () => mysql(library.database, Object.fromEntries(told))
    let store = factory()
    return {
      store,
      another: factory,
      async reopen() {
        await store[Symbol.asyncDispose]()
        store = factory()
        return store
      },
      effects: {
        write: async ({ tx }, mark) => void (await library.run(tx, `insert into effect (mark) values ('${mark}')`)),
        count,
      },
      async damage(id) {
        await onMariadb(`update oncekey_record set state = 42 where k = unhex('${id.replaceAll('-', '')}')`, fresh.url)
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    }
  }
  const shown = { clock: 'real', several: true, reopen: true, effects: true, damage: true } as const
  storeContract(
    make,
    { mode: 'transaction', ...shown, name: `MariaDB, transaction mode, by ${name}` },
    { runner: { describe, it } },
  )
})

it('what cannot be reached is said at once', () => {
  expect(() => fromKnex(knexOver({ client: 'pg' }))).toThrow(/INVALID_OPTION.*client: 'mysql2'/)
  expect(() => fromDrizzle(drizzle.mock())).toThrow(/INVALID_OPTION.*mysql2/)
  const db = new Kysely({ dialect: new MysqlDialect({ pool: createPool({}) }) })
  expect(() => fromKysely(db, undefined as never)).toThrow(/INVALID_OPTION.*fromMysql2\(pool\)/)
})

/** Every message and code, whatever wraps what. */
function chain(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown }
  return `${code} ${message} ${chain(cause)}`
}

function kysely(uri: string, connectionLimit = 10): Library {
  const pool = createPool({ uri, connectionLimit })
  const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })
  const on = (tx: unknown) => tx as typeof db
  return {
    database: fromKysely(db, fromMysql2(pool)) as Database<unknown>,
    async insert(tx, mark) {
      const { numInsertedOrUpdatedRows } = await on(tx).insertInto('effect').values({ mark }).executeTakeFirst()
      expect(numInsertedOrUpdatedRows).toBe(1n)
      expect(await on(tx).selectFrom('effect').selectAll().where('mark', '=', mark).execute()).toEqual([{ mark }])
    },
    lazy(tx) {
      const built = on(tx).selectFrom('effect').selectAll().where('mark', '=', 'none')
      return () => built.execute()
    },
    run: (tx, text) => sql.raw(text).execute(on(tx)),
    async nested(tx, body) {
      await sql`savepoint part`.execute(on(tx))
      return body(tx).catch(async (error) => {
        await sql`rollback to savepoint part`.execute(on(tx))
        throw error
      })
    },
    transaction: (body) => db.transaction().setIsolationLevel('read committed').execute(body),
    end: () => db.destroy(),
  }
}

function drizzled(uri: string, connectionLimit = 10): Library {
  const pool = createPool({ uri, connectionLimit })
  const db = drizzle(pool, { schema: { effect }, mode: 'default' })
  const on = (tx: unknown) => tx as typeof db
  return {
    database: fromDrizzle(db) as unknown as Database<unknown>,
    async insert(tx, mark) {
      await on(tx).insert(effect).values({ mark })
      expect(await on(tx).query.effect.findFirst({ where: eq(effect.mark, mark) })).toEqual({ mark })
    },
    lazy(tx) {
      const built = on(tx).select().from(effect).where(eq(effect.mark, 'none'))
      return () => built
    },
    // Drizzle wraps what its driver throws.
    run: (tx, text) =>
      on(tx)
        .execute(text)
        .catch((error: Error) => {
          throw error.cause ?? error
        }),
    nested: (tx, body) => on(tx).transaction(body),
    transaction: (body) => db.transaction(body, { isolationLevel: 'read committed' }),
    end: () => new Promise((resolve) => pool.end(resolve)),
  }
}

function knex(connection: string, max = 10): Library {
  const log = { warn() {}, error() {}, debug() {}, deprecate() {} }
  const db = knexOver({ client: 'mysql2', connection, pool: { min: 0, max }, log })
  const on = (tx: unknown) => tx as typeof db
  return {
    database: fromKnex(db) as unknown as Database<unknown>,
    async insert(tx, mark) {
      await on(tx)('effect').insert({ mark })
      expect(await on(tx)('effect').where({ mark })).toHaveLength(1)
    },
    lazy(tx) {
      const built = on(tx)('effect').where({ mark: 'none' })
      return () => built
    },
    run: async (tx, text) => on(tx).raw(text),
    nested: (tx, body) => on(tx).transaction(body),
    transaction: (body) => db.transaction(body, { isolationLevel: 'read committed' }),
    end: () => db.destroy(),
  }
}
