/** T15: joining a transaction that the caller owns, on a real MariaDB. */
import type { PoolConnection } from 'mysql2/promise'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { chargesAt, LIVE, never, operation, PAST, type Work } from '../../../../../test/support/mysql-charges.ts'
import { mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { once } from '../../core/once.ts'
import type { Operation } from '../../core/operation.ts'
import type { Policy } from '../../core/policy.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { STATE } from '../row.ts'
import { mysql, type TransactionalStore } from './index.ts'

describeMariadb.each(['read committed', 'repeatable read'])('within a transaction of the caller (%s)', (level) => {
  const place = mysqlPlace()
  const { run, row, intrude } = chargesAt(place)
  let store: TransactionalStore<PoolConnection>
  let tx: PoolConnection

  beforeEach(async () => {
    store = mysql(fromMysql2(place.pool))
    tx = await place.pool.getConnection()
    await tx.query(`set transaction isolation level ${level}`)
    await tx.query('begin')
    // Its snapshot is older than everything that follows.
    await tx.query('select count(*) from oncekey_record')
  })
  afterEach(async () => {
    await tx.query('rollback').catch(() => {})
    tx.release()
  })
  const write =
    (mark: string): Work =>
    async (grant) => {
      await place.write(grant.tx, mark)
      return 'done'
    }
  const join = (charge: Operation, work: Work = write(charge.key), policy: Policy<unknown> = {}) =>
    once(store.within(tx), charge, work, { policy })

  it('the answer is durable when the caller commits, and not before', async () => {
    const charge = operation()
    expect(await join(charge)).toEqual({ kind: 'ran', value: 'done', fate: 'kept' })
    expect(await row(charge)).toBeUndefined()
    expect((await run(charge, never)).kind).toBe('busy')
    await tx.query('commit')
    expect(await run(charge, never)).toMatchObject({ kind: 'replayed', value: 'done' })
    expect(await place.count(charge.key)).toBe(1)
  })

  it('nothing is left when the caller rolls back', async () => {
    const charge = operation()
    await join(charge)
    await tx.query('rollback')
    expect((await run(charge)).kind).toBe('ran')
    expect(await place.count(charge.key)).toBe(1)
  })

  it('O-16: a refused attempt leaves the transaction as it was (lobu-ai/lobu#2461)', async () => {
    const charge = operation()
    const before = `before ${charge.key}`
    await run(charge)
    await place.write(tx, before)
    expect(await join(charge, never)).toMatchObject({ kind: 'replayed', value: 'done' })
    expect(await join({ ...charge, fingerprints: ['another'] }, never)).toEqual({ kind: 'mismatch' })
    // Whoever comes meanwhile is answered all the same.
    expect(await run(charge, never)).toMatchObject({ kind: 'replayed' })
    await place.write(tx, before)
    await tx.query('commit')
    expect(await place.count(before)).toBe(2)
  })

  it('a refused attempt keeps no lock on the record of a lease that runs, so that its owner can go on', async () => {
    const charge = operation()
    await intrude(charge, { state: '1', fence: '7', token: `x'${'01'.repeat(16)}'`, lease_end: LIVE })
    expect((await join(charge, never)).kind).toBe('busy')
    await place.pool.query(
      `set statement innodb_lock_wait_timeout = 0 for update oncekey_record set fence = 8 where fence = 7`,
    )
    expect(await row(charge)).toMatchObject({ fence: 8 })
  })

  it('a duplicate of what runs elsewhere is busy, and one of another request a mismatch', async () => {
    const charge = operation()
    await run(charge, async () => {
      expect((await join(charge, never)).kind).toBe('busy')
      expect((await join({ ...charge, fingerprints: ['another'] }, never)).kind).toBe('mismatch')
    })
  })

  it('work that throws is undone alone, and the key is free', async () => {
    const charge = operation()
    const thrown = new Error('declined')
    await place.write(tx, `before ${charge.key}`)
    const work: Work = async (grant) => {
      await place.write(grant.tx, charge.key)
      throw thrown
    }
    await expect(join(charge, work)).rejects.toBe(thrown)
    expect((await join(charge)).kind).toBe('ran')
    await tx.query('commit')
    expect(await place.count(charge.key)).toBe(1)
    expect(await place.count(`before ${charge.key}`)).toBe(1)
  })

  it.each(['keep-undone', 'hold'] as const)('%s undoes the writes of the work alone', async (judge) => {
    const charge = operation()
    await place.write(tx, `before ${charge.key}`)
    await join(charge, undefined, { judge: () => judge })
    await tx.query('commit')
    expect(await place.count(charge.key)).toBe(0)
    expect(await place.count(`before ${charge.key}`)).toBe(1)
    expect((await run(charge, never)).kind).toBe(judge === 'hold' ? 'unknown' : 'replayed')
  })

  it('an abandoned claim is written unknown with the caller’s transaction', async () => {
    const charge = operation()
    await intrude(charge, { state: '2', fence: '7', lease_end: PAST })
    expect((await join(charge, never)).kind).toBe('unknown')
    await tx.query('commit')
    expect(await row(charge)).toMatchObject({ state: STATE.unknown, fence: 7 })
  })

  it('T12: work that takes too long ends the connection, so that nothing of it can be committed', async () => {
    const charge = operation()
    const slow: Work = async (grant) => {
      await place.write(grant.tx, charge.key)
      await new Promise(() => {})
    }
    await expect(join(charge, slow, { work: 50 })).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    await expect(tx.query('commit')).rejects.toThrow()
    expect(await place.count(charge.key)).toBe(0)
  })

  it('a connection without a transaction is refused before the work', async () => {
    await tx.query('commit')
    const charge = operation()
    await expect(join(charge, never)).rejects.toMatchObject({ code: 'TX_CLOSED' })
    expect(await row(charge)).toBeUndefined()
  })

  it.each(['commit', 'create table if not exists unwise (n int)'])(
    'T3: work that ends the caller’s transaction (%s) is unknown',
    async (sql) => {
      const charge = operation()
      const commits: Work = async (grant) => {
        await place.write(grant.tx, charge.key)
        await grant.tx.query(sql)
      }
      await expect(join(charge, commits)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
      expect((await run(charge, never)).kind).toBe('unknown')
    },
  )

  it('T17: the same operation twice on one transaction is refused while the first runs, and answered after it', async () => {
    const charge = operation()
    await join(charge, async () => {
      await expect(join(charge, never)).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
    })
    expect((await join(charge, never)).kind).toBe('replayed')
  })
})
