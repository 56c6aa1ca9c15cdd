// What the work may do with TypeORM's manager on MariaDB, and what it may not (T7, T15).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { once } from 'oncekey'
import { fromTypeorm, mysql } from 'oncekey/mysql'
import { DataSource, type EntityManager } from 'typeorm'
import { onMariadb } from '../../../test/support/grounds-apart.ts'

describe('the work of TypeORM on MariaDB', () => {
  const { url, ask } = onMariadb.fresh()
  let dataSource: DataSource

  before(async () => {
    dataSource = await new DataSource({ type: 'mariadb', url, poolSize: 4 }).initialize()
    await store().admin.migrate()
  })
  after(() => dataSource.destroy())

  const operation = () => ({ scope: 'shop', key: randomUUID(), fingerprints: ['open'] as const })
  const store = () => mysql(fromTypeorm(dataSource))
  const insert = (tx: EntityManager, owner: string) => tx.query('insert into account (owner) values (?)', [owner])
  const count = async (owner: string) => (await ask(`select 1 from account where owner = '${owner}'`)).length

  it('a nested transaction is a savepoint', async () => {
    const [kept, undone] = [randomUUID(), randomUUID()]
    await once(store(), operation(), async ({ tx }) => {
      await insert(tx, kept)
      const part = tx.transaction(async (inner) => {
        await insert(inner, undone)
        throw new Error('of the part')
      })
      await assert.rejects(part, /of the part/)
    })
    assert.deepEqual([await count(kept), await count(undone)], [1, 0])
  })

  it('T7: COMMIT by the work, and the manager after it, are refused', async () => {
    const saying = (code: string) => (error: unknown) =>
      (error as { driverError?: { code?: unknown } }).driverError?.code === code
    const ends = async ({ tx }: { readonly tx: EntityManager }) => tx.queryRunner?.commitTransaction()
    await assert.rejects(once(store(), operation(), ends), saying('TX_CONTROL'))
    let left: EntityManager | undefined
    await once(store(), operation(), async ({ tx }) => {
      left = tx
    })
    await assert.rejects(async () => left?.query('select 1'), saying('TX_CLOSED'))
  })

  it('T15: joins a transaction that TypeORM itself has opened', async () => {
    const [charge, owner, all] = [operation(), randomUUID(), store()]
    const join = () =>
      dataSource.transaction('READ COMMITTED', (tx) =>
        once(all.within(tx), charge, async (grant) => void (await insert(grant.tx, owner))),
      )
    assert.deepEqual([(await join()).kind, (await join()).kind], ['ran', 'replayed'])
    assert.equal(await count(owner), 1)
  })

  it('lease mode: begin() gives the manager', async () => {
    const leased = mysql(fromTypeorm(dataSource), { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })
    const owner = randomUUID()
    await once(leased, operation(), async (grant) => void (await insert(await grant.begin(), owner)))
    assert.equal(await count(owner), 1)
    await leased[Symbol.asyncDispose]()
  })
})
