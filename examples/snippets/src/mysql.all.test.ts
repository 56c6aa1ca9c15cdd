// The snippets of docs/how-to/mysql.md, run on a real MariaDB.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'mysql2/promise'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeMariadb, freshMariadb, onMariadb, poolAt } from '../../../test/support/mariadb.ts'
import { inTransaction, joining, leaseMode, tables } from './mysql.ts'

describeMariadb('MySQL and MariaDB', () => {
  const fresh = freshMariadb()
  let pool: Pool

  beforeAll(async () => {
    pool = poolAt(fresh.url)
    await tables(pool)
    for (const columns of [
      'account (owner varchar(20)',
      'visit (owner varchar(20)',
      'charge (amount int, bank_id varchar(20)',
    ])
      await onMariadb(`create table ${columns}, id int auto_increment primary key)`, fresh.url)
  })
  afterAll(() => pool.end())
  const operation = () => ({ scope: 'acct_1', key: randomUUID(), fingerprints: ['body'] as const })

  it('a write and its answer, once', async () => {
    const charge = operation()
    const { openAccount } = inTransaction(pool)
    expect(await openAccount(charge, 'ada')).toMatchObject({ kind: 'ran', value: { id: 1 } })
    expect(await openAccount(charge, 'ada')).toMatchObject({ kind: 'replayed', value: { id: 1 } })
  })

  it('a call, and the row that it leaves', async () => {
    const charge = operation()
    let calls = 0
    const bank = { charge: async () => ({ id: `ch_${++calls}` }) }
    const { charge: pay } = leaseMode(pool, bank as never)
    expect(await pay(charge, 2500)).toMatchObject({ kind: 'ran', value: { id: 'ch_1' } })
    expect(await pay(charge, 2500)).toMatchObject({ kind: 'replayed', value: { id: 'ch_1' } })
    expect(await onMariadb('select bank_id from charge', fresh.url)).toEqual([{ bank_id: 'ch_1' }])
  })

  it("a caller's own transaction", async () => {
    const charge = operation()
    expect(await joining(pool, charge, 'grace')).toMatchObject({ kind: 'ran', value: 'grace' })
    expect(await joining(pool, charge, 'grace')).toMatchObject({ kind: 'replayed', value: 'grace' })
    expect(await onMariadb("select count(*) as n from account where owner = 'grace'", fresh.url)).toEqual([{ n: 1 }])
    expect(await onMariadb('select count(*) as n from visit', fresh.url)).toEqual([{ n: 2 }])
  })
})
