/** T3 and T7: the transaction of an operation is ended by the store alone; whoever else ends it is found out. */
import Database from 'libsql'
import { expect, test } from 'vitest'
import { type Libsql, scratch } from '../../../../../test/sqlite/scratch.ts'
import { once } from '../../core/once.ts'
import { sqlite } from './index.ts'

const file = scratch()
const charge = (key: string) => ({ scope: 'acct_1', key, fingerprints: ['body'] as [string] })

/** A shop whose connections are also known to somebody who should not know them. */
async function shop(setUp: (tx: Libsql) => void = () => {}) {
  const connections: Libsql[] = []
  const store = sqlite(file(), {
    driver: Database,
    durability: 'normal',
    setUp(connection) {
      connections.push(connection)
      setUp(connection)
    },
  })
  await store.write((tx) => tx.exec('create table charge (id integer primary key, amount integer unique)'))
  const amounts = () => store.write((tx) => tx.prepare('select amount from charge order by 1').pluck().all())
  const [writer] = connections as [Libsql]
  return { store, writer, amounts, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
const pay = (tx: Libsql, amount: number) => tx.prepare('insert into charge (amount) values (?)').run(amount)

test('T7: after the work has settled every use of tx is TX_CLOSED, also through what was prepared before', async () => {
  await using here = await shop()
  let leaked: Libsql | undefined
  let prepared: { run(amount: number): unknown } | undefined
  await once(here.store, charge('k'), async ({ tx }) => {
    leaked = tx
    prepared = tx.prepare('insert into charge (amount) values (?)')
    prepared.run(1)
  })
  expect(() => leaked?.exec('delete from charge')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
  expect(() => prepared?.run(2)).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
  expect(await here.amounts()).toEqual([1])
})

test.each(['commit', '  END;', 'insert into charge (amount) values (1); rollback', '-- so\n begin'])(
  'TX_CONTROL: %j through tx is refused, and nothing of it happens',
  async (sql) => {
    await using here = await shop()
    for (const way of ['exec', 'prepare'] as const) {
      const tried = once(here.store, charge(way), async ({ tx }) => void tx[way](sql))
      await expect(tried).rejects.toMatchObject({ code: 'TX_CONTROL' })
    }
    await expect(once(here.store, charge('close'), async ({ tx }) => void tx.close())).rejects.toMatchObject({
      code: 'TX_CONTROL',
    })
    expect(await here.amounts()).toEqual([])
  },
)

test('savepoints, triggers and transaction() of the work’s own are its own business', async () => {
  await using here = await shop()
  const outcome = await once(here.store, charge('k'), async ({ tx }) => {
    tx.exec('savepoint mine')
    pay(tx, 1)
    tx.exec('rollback to mine; release mine')
    tx.exec('create trigger t after insert on charge begin select case when new.amount > 5 then 1 end; end')
    const both = tx.transaction((a: number, b: number) => [pay(tx, a), pay(tx, b)].length)
    expect(() => both(3, 3)).toThrow(/UNIQUE/)
    return both.immediate(4, 5)
  })
  expect(outcome).toMatchObject({ kind: 'ran', value: 2 })
  expect(await here.amounts()).toEqual([4, 5])
})

test('T3: a COMMIT from outside is an unknown outcome: it is held, never run again', async () => {
  await using here = await shop()
  const ended = once(here.store, charge('k'), async ({ tx }) => {
    pay(tx, 1)
    here.writer.exec('commit')
    return 'as if nothing were'
  })
  await expect(ended).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect(await once(here.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'unknown' })
  expect(await here.amounts()).toEqual([1])
})

test('T3: the same when the work throws, and when a new transaction was begun behind it', async () => {
  await using here = await shop()
  const ended = once(here.store, charge('k'), async ({ tx }) => {
    pay(tx, 1)
    here.writer.exec('commit; begin immediate')
    pay(tx, 2)
    throw new Error('after all')
  })
  await expect(ended).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect(await once(here.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'unknown' })
  expect(await here.amounts()).toEqual([1])
})

test('what SQLite rolls back by itself leaves the key free when the work throws', async () => {
  await using here = await shop()
  await once(here.store, charge('first'), async ({ tx }) => pay(tx, 1).changes)
  const ended = once(here.store, charge('k'), async ({ tx }) => {
    pay(tx, 2)
    tx.exec('insert or rollback into charge (amount) values (1)')
  })
  await expect(ended).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_UNIQUE' })
  expect(await here.amounts()).toEqual([1])
  expect(await once(here.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'ran' })
})

test('T10: work that goes on after such a rollback writes nothing more, and may not pretend that it did', async () => {
  await using here = await shop()
  await once(here.store, charge('first'), async ({ tx }) => pay(tx, 1).changes)
  const errors: unknown[] = []
  const swallowing = once(here.store, charge('k'), async ({ tx }) => {
    for (const sql of ['insert or rollback into charge (amount) values (1)', 'insert into charge (amount) values (9)'])
      try {
        tx.exec(sql)
      } catch (error) {
        errors.push(error)
      }
    return 'done'
  })
  await expect(swallowing).rejects.toMatchObject({ code: 'TX_ABORTED' })
  expect(errors).toMatchObject([{ code: 'SQLITE_CONSTRAINT_UNIQUE' }, { code: 'TX_ABORTED' }])
  expect(await here.amounts()).toEqual([1])
  expect(await once(here.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'ran' })
})

test('T9: an outcome that is to be held is held also after such a rollback', async () => {
  await using here = await shop()
  await once(here.store, charge('first'), async ({ tx }) => pay(tx, 1).changes)
  const policy = { judge: () => 'hold' as const }
  const failing = once(
    here.store,
    charge('k'),
    async ({ tx }) => tx.exec('insert or rollback into charge (amount) values (1)'),
    {
      policy,
    },
  )
  await expect(failing).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_UNIQUE' })
  expect(await once(here.store, charge('k'), async () => 'again')).toMatchObject({ kind: 'unknown' })
})
