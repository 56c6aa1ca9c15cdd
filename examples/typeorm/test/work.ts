// What the work may do with TypeORM's manager, and what it may not (T5, T7, T8, T11).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { once } from 'oncekey'
import { fromTypeorm, postgres } from 'oncekey/postgres'
import { type FaultProxy, faultProxy } from 'oncekey/testing'
import { DataSource, type EntityManager, type QueryFailedError } from 'typeorm'
import { onPostgres } from '../../../test/support/grounds-apart.ts'
import { account } from '../src/account.ts'
import { accounts } from '../src/open-account.ts'

describe('the work of TypeORM', () => {
  const { url } = onPostgres.fresh()
  let proxy: FaultProxy
  let dataSource: DataSource
  const heard: string[] = []

  before(async () => {
    proxy = await faultProxy({ to: url, latencyMs: 3 })
    dataSource = await new DataSource({
      type: 'postgres',
      url: proxy.url,
      poolSize: 4,
      entities: [account],
    }).initialize()
    dataSource.subscribers.push({
      beforeTransactionCommit: () => void heard.push('before commit'),
      afterTransactionCommit: () => void heard.push('after commit'),
      afterTransactionRollback: () => void heard.push('after rollback'),
    })
    await accounts(dataSource).store.admin.migrate()
  })
  after(async () => {
    await dataSource.destroy()
    await proxy[Symbol.asyncDispose]()
  })

  const operation = () => ({ scope: 'shop', key: randomUUID(), fingerprints: ['open'] as const })
  const store = () => postgres(fromTypeorm(dataSource))
  const count = (owner: string) => dataSource.getRepository(account).countBy({ owner })

  it('opens an account once', async () => {
    const { openAccount } = accounts(dataSource)
    const [charge, owner] = [operation(), randomUUID()]
    const first = await openAccount(charge, owner)
    const again = await openAccount(charge, owner)
    assert.deepEqual([first.kind, again.kind], ['ran', 'replayed'])
    assert.deepEqual(again, { ...again, value: (first as { value: unknown }).value })
    assert.equal(await count(owner), 1)
  })

  it('a new key takes three flights and a replay one', async () => {
    const warm = store()
    const work = async ({ tx }: { readonly tx: EntityManager }) => void (await tx.query('select 1'))
    await once(warm, operation(), work)
    const charge = operation()
    const before = proxy.flights.answered
    await once(warm, charge, work)
    const between = proxy.flights.answered
    await once(warm, charge, work)
    assert.deepEqual([between - before, proxy.flights.answered - between], [3, 1])
  })

  it('a nested transaction is a savepoint', async () => {
    const [kept, undone] = [randomUUID(), randomUUID()]
    await once(store(), operation(), async ({ tx }) => {
      await tx.getRepository(account).save({ owner: kept })
      const part = tx.transaction(async (inner) => {
        await inner.getRepository(account).save({ owner: undone })
        throw new Error('of the part')
      })
      await assert.rejects(part, /of the part/)
    })
    assert.deepEqual([await count(kept), await count(undone)], [1, 0])
  })

  it('T8: a unique violation, which TypeORM wraps, is the user’s own', async () => {
    const [charge, owner] = [operation(), randomUUID()]
    const twice = async ({ tx }: { readonly tx: EntityManager }) => {
      await tx.insert(account, { owner })
      await tx.insert(account, { owner })
    }
    await assert.rejects(once(store(), charge, twice), saying('23505'))
    assert.equal((await once(store(), charge, async () => 'again')).kind, 'ran')
  })

  it('T7: COMMIT by the work, and the manager after it, are refused', async () => {
    const commits = ({ tx }: { readonly tx: EntityManager }) => tx.query('commit')
    await assert.rejects(once(store(), operation(), commits), saying('TX_CONTROL'))
    const ends = ({ tx }: { readonly tx: EntityManager }) => tx.queryRunner?.commitTransaction()
    await assert.rejects(
      once(store(), operation(), async (grant) => ends(grant)),
      saying('TX_CONTROL'),
    )
    let left: EntityManager | undefined
    await once(store(), operation(), async ({ tx }) => {
      left = tx
    })
    await assert.rejects(async () => left?.getRepository(account).find(), saying('TX_CLOSED'))
  })

  it('subscribers hear how it ended', async () => {
    heard.length = 0
    await once(store(), operation(), async () => 'done')
    await once(store(), operation(), () => Promise.reject(new Error('no'))).catch(() => {})
    assert.deepEqual(heard, ['before commit', 'after commit', 'after rollback'])
  })

  it('T11: COMMIT whose answer is lost is answered from the record', async () => {
    const owner = randomUUID()
    proxy.next(/commit\0/, { kind: 'cut', at: 'answer' })
    const work = async ({ tx }: { readonly tx: EntityManager }) => void (await tx.insert(account, { owner }))
    assert.equal((await once(store(), operation(), work)).kind, 'replayed')
    assert.equal(await count(owner), 1)
  })

  it('T15: joins a transaction that TypeORM itself has opened', async () => {
    const [charge, owner] = [operation(), randomUUID()]
    const all = store()
    const join = () =>
      dataSource.transaction('READ COMMITTED', (tx) =>
        once(all.within(tx), charge, async (grant) => void (await grant.tx.insert(account, { owner }))),
      )
    assert.deepEqual([(await join()).kind, (await join()).kind], ['ran', 'replayed'])
    assert.equal(await count(owner), 1)
  })

  it('lease mode: begin() gives the manager', async () => {
    const leased = postgres(fromTypeorm(dataSource), { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })
    const owner = randomUUID()
    await once(leased, operation(), async (grant) => void (await (await grant.begin()).insert(account, { owner })))
    assert.equal(await count(owner), 1)
    await leased[Symbol.asyncDispose]()
  })
})

/** TypeORM wraps what its driver throws. */
function saying(code: string) {
  return (error: unknown) => (error as QueryFailedError<Error & { code?: unknown }>).driverError.code === code
}
