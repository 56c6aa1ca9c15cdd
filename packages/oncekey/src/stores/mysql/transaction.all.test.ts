/** What transaction mode promises on MariaDB: the truth at once, one fate for writes and answer, nothing left in the pool. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, RowDataPacket } from 'mysql2/promise'
import { describe, expect, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { chargesAt, LIVE, never, operation, PAST, type Work } from '../../../../../test/support/mysql-charges.ts'
import { mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { STATE } from '../row.ts'
import { mysql } from './index.ts'

describeMariadb('transaction mode on MariaDB', () => {
  const place = mysqlPlace()
  const { run, row, intrude, terminate } = chargesAt(place)

  describe('T4: whoever asks while the first runs is told the truth at once', () => {
    it.each(['first', 'locked'] as const)(
      'the same request is busy, another one a mismatch (read: %s)',
      async (read) => {
        const store = mysql(fromMysql2(place.pool), { read })
        const charge = operation()
        const told: string[] = []
        await run(charge, async ({ tx }) => {
          await place.write(tx, charge.key)
          for (let times = 0; times < 20; times += 1) told.push((await run(charge, never, {}, store)).kind)
          const other = { ...charge, fingerprints: ['another'] as const }
          for (let times = 0; times < 20; times += 1) told.push((await run(other, never, {}, store)).kind)
        })
        expect(told).toEqual([...Array(20).fill('busy'), ...Array(20).fill('mismatch')])
      },
    )

    it('also where the record that it replaces is over', async () => {
      const charge = operation()
      await intrude(charge, { state: '5', expires_at: PAST, fingerprint: "x'00000000000000000000000000000000'" })
      await run(charge, async () => {
        expect((await run(charge, never)).kind).toBe('busy')
        expect((await run({ ...charge, fingerprints: ['another'] }, never)).kind).toBe('mismatch')
      })
      expect((await run(charge, never)).kind).toBe('replayed')
    })

    it('a hundred at once: one runs, 99 are busy or get its answer, whatever they read first', async () => {
      for (const read of ['first', 'locked'] as const) {
        const store = mysql(fromMysql2(place.open(undefined, { connectionLimit: 20 })), { read, claimMs: '10s' })
        const charge = operation()
        const told = await Promise.all(Array.from({ length: 100 }, () => run(charge, undefined, {}, store)))
        const kinds = told.map(({ kind }) => kind)
        expect(kinds.filter((kind) => kind === 'ran')).toHaveLength(1)
        expect(kinds.filter((kind) => !['ran', 'busy', 'replayed'].includes(kind))).toEqual([])
        expect(await place.count(charge.key)).toBe(1)
      }
    })

    it('a record of lease mode that runs is busy, past its lease taken over or held, as it says', async () => {
      const charge = operation()
      await intrude(charge, { state: '1', fence: '7', token: "x'01010101010101010101010101010101'", lease_end: LIVE })
      expect((await run(charge, never)).kind).toBe('busy')
      await intrude(charge, { state: '2', fence: '7', lease_end: PAST })
      expect((await run(charge, never)).kind).toBe('unknown')
      expect(await row(charge)).toMatchObject({ state: STATE.unknown, fence: 7 })
      const other = operation()
      await intrude(other, { state: '1', fence: '7', lease_end: PAST })
      expect((await run(other)).kind).toBe('ran')
    })
  })

  describe('T3: work that has lost its transaction', () => {
    it('by DDL, which commits: unknown, its writes counted once, and never run again', async () => {
      const charge = operation()
      const work: Work = async ({ tx }) => {
        await place.write(tx, charge.key)
        await tx.query('create table if not exists unwise (n int)')
        await place.write(tx, charge.key)
        return 'done'
      }
      await expect(run(charge, work)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
      expect(await run(charge, never)).toMatchObject({ kind: 'unknown' })
      expect(await row(charge)).toMatchObject({ state: STATE.unknown })
    })

    it('by DDL, and the process dies right then: what was committed with it says unknown', async () => {
      const charge = operation()
      const store = mysql(fromMysql2(place.open()))
      const work: Work = async (grant) => {
        await grant.tx.query('create table if not exists unwise (n int)')
        await terminate(grant)
        return 'done'
      }
      await run(charge, work, {}, store).catch(() => {})
      const record = await store.admin.find(charge)
      expect(record).toMatchObject({ state: 'unknown', key: charge.key, why: 'the work ended its own transaction' })
      expect(await run(charge, never)).toMatchObject({ kind: 'unknown' })
    })

    it('by a deadlock that it swallowed (1213 undoes everything): nothing is kept as an answer', async () => {
      await place.pool.query('create table account (id int primary key, balance int not null) engine = InnoDB')
      await place.pool.query('insert into account values (1, 0), (2, 0)')
      const charge = operation()
      let deadlocks = 0
      const work: Work = async ({ tx }) => {
        await place.write(tx, `${charge.key} before`)
        const other = await place.pool.getConnection()
        await other.query('begin')
        // The heavier of two is not the one that is rolled back.
        await other.query('update account set balance = balance + 1 where id = 2')
        await other.query(`insert into effect (mark) values ${Array(50).fill("('ballast')")}`)
        await tx.query('update account set balance = balance + 1 where id = 1')
        const crossed = other.query('update account set balance = balance + 1 where id = 1')
        await sleep(50)
        await tx.query('update account set balance = balance + 1 where id = 2').catch((error: { errno: number }) => {
          if (error.errno === 1213) deadlocks += 1
        })
        await crossed
        await other.query('rollback')
        other.release()
        await place.write(tx, `${charge.key} after`)
        return 'done'
      }
      await expect(run(charge, work)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
      expect(deadlocks).toBe(1)
      // What was written before is gone, what was written after has committed by itself: nobody could call that an answer.
      expect(await place.count(`${charge.key} before`)).toBe(0)
      expect(await place.count(`${charge.key} after`)).toBe(1)
      expect((await run(charge, never)).kind).toBe('unknown')
    })

    it('by COMMIT, ROLLBACK or a method of the connection: refused before it is sent', async () => {
      for (const sql of ['commit', ' /* now */ ROLLBACK'])
        await expect(run(operation(), ({ tx }) => tx.query(sql))).rejects.toMatchObject({ code: 'TX_CONTROL' })
      await expect(run(operation(), ({ tx }) => tx.commit())).rejects.toMatchObject({ code: 'TX_CONTROL' })
      await expect(run(operation(), async ({ tx }) => tx.release())).rejects.toMatchObject({ code: 'TX_CONTROL' })
    })

    it('by a kill: its signal aborts, nothing is kept, and the key is free', async () => {
      const charge = operation()
      const work: Work = async (grant) => {
        await place.write(grant.tx, charge.key)
        await terminate(grant)
        expect(grant.signal.aborted).toBe(true)
      }
      await expect(run(charge, work)).rejects.toMatchObject({ code: 'TRY_AGAIN' })
      expect(await place.count(charge.key)).toBe(0)
      expect((await run(charge)).kind).toBe('ran')
    })
  })

  it('T7: whatever part of the handle outlives its work, it writes nothing', async () => {
    let left: { query(sql: string, values: unknown[]): unknown } | undefined
    await run(operation(), async ({ tx }) => {
      left = tx.connection as never
    })
    expect(() => left?.query('insert into effect (mark) values (?)', ['late'])).toThrow(
      expect.objectContaining({ code: 'TX_CLOSED' }),
    )
    expect(await place.count('late')).toBe(0)
  })

  it('T12: work that takes too long is rolled back, and its late writes reach nobody', async () => {
    const charge = operation()
    let late: unknown
    const slow: Work = async ({ tx, signal }) => {
      await place.write(tx, charge.key)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await sleep(20)
      late = await place.write(tx, charge.key).catch((error: unknown) => error)
    }
    await expect(run(charge, slow, { work: 100 })).rejects.toMatchObject({ code: 'TRY_AGAIN' })
    await expect.poll(() => late).toMatchObject({ code: 'TX_CLOSED' })
    await expect.poll(async () => (await run(charge)).kind).toBe('ran')
    expect(await place.count(charge.key)).toBe(1)
  })

  describe('what is left in the pool', () => {
    /** A pool of one: whatever an attempt leaves in its session is found by the next one. */
    async function sessionAfter(attempt: (pool: Pool) => Promise<unknown>) {
      const pool = place.open(undefined, { connectionLimit: 1 })
      await pool.query('set session idle_transaction_timeout = 77')
      await attempt(pool).catch(() => {})
      const [rows] = await pool.query<RowDataPacket[]>(
        `select @@session.idle_transaction_timeout as idle, @@session.tx_isolation as isolation, @@session.tx_read_only as read_only,
                @@in_transaction as open, @@session.innodb_lock_wait_timeout as waits,
                (select count(*) from information_schema.innodb_trx where trx_mysql_thread_id = connection_id()) as holding`,
      )
      return rows[0]
    }
    const throws: Work = async () => {
      throw new Error('declined')
    }
    it.each([
      ['kept', undefined, {}],
      ['thrown', throws, {}],
      ['undone and kept', undefined, { judge: () => 'keep-undone' as const }],
      ['held', undefined, { judge: () => 'hold' as const }],
    ])('after an attempt that was %s: no lock, no transaction, no setting', async (_, work, policy) => {
      const charge = operation()
      const session = await sessionAfter((pool) =>
        run(charge, work, policy, mysql(fromMysql2(pool), { maxWinners: 1 })),
      )
      expect(session).toEqual({ idle: 77, isolation: 'REPEATABLE-READ', read_only: 0, open: 0, waits: 50, holding: 0 })
    })
    it('after a refusal too', async () => {
      const charge = operation()
      await run(charge, async () => {
        const session = await sessionAfter((pool) => run(charge, never, {}, mysql(fromMysql2(pool), { maxWinners: 1 })))
        expect(session).toMatchObject({ idle: 77, open: 0, waits: 50 })
      })
    })
  })

  it('T13: fifty winners on a pool of two run once each, and duplicates are answered meanwhile', async () => {
    const database = fromMysql2(place.open(undefined, { connectionLimit: 2 }))
    const store = mysql(database, { claimMs: '10s' })
    // Another store: within one, the same operation inside itself is refused.
    const beside = mysql(database, { claimMs: '10s' })
    const charges = Array.from({ length: 50 }, () => operation())
    const first = charges[0] as (typeof charges)[0]
    let repeats: unknown
    const outcomes = await Promise.all(
      charges.map((charge) =>
        run(
          charge,
          async ({ tx }) => {
            await place.write(tx, charge.key)
            if (charge === first) repeats = (await run(first, never, {}, beside)).kind
          },
          {},
          store,
        ),
      ),
    )
    expect(outcomes.every(({ kind }) => kind === 'ran')).toBe(true)
    expect(repeats).toBe('busy')
  })
})
