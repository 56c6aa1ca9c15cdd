/** Changes by hand and sweeps on MariaDB, beside operations that are at work. */
import type { RowDataPacket } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { chargesAt, LIVE, never, operation, PAST } from '../../../../../test/support/mysql-charges.ts'
import { emptied, mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import { STATE } from '../row.ts'
import { mysql } from './index.ts'

const by = { who: 'ada', why: 'the bank says so: ü 🙂' } as const

describeMariadb('admin on MariaDB', () => {
  const place = mysqlPlace()
  emptied(place)
  const { run, row, intrude } = chargesAt(place)
  const admin = () => mysql(fromMysql2(place.pool)).admin

  it('every change is written down with what it changed, and with who and why in any script', async () => {
    const charge = operation()
    await run(charge, undefined, { judge: () => 'hold' })
    const held = await admin().find(charge)
    expect(held).toMatchObject({ state: 'unknown', key: charge.key })
    expect(await admin().settle(held as never, { kind: 'finished', receipt: Uint8Array.of(7) }, by)).toBe('done')
    const settled = await admin().find(charge)
    expect(await admin().erase(settled as never, by)).toBe('done')
    expect(await admin().forget((await admin().find(charge)) as never, by)).toBe('done')
    const [rows] = await place.pool.query<RowDataPacket[]>(
      'select action, state, label, who, why from oncekey_audit where k = unhex(?) order by id',
      [held?.id],
    )
    const written = rows.map(({ action, state, who, why }) => ({ action, state, who: `${who}`, why: `${why}` }))
    expect(written).toEqual([
      { action: 'finished', state: STATE.unknown, ...by },
      { action: 'erase', state: STATE.finished, ...by },
      { action: 'forget', state: STATE.spent, ...by },
    ])
    expect(`${rows[0]?.label}`).toContain(charge.key)
    expect(rows[1]?.label).toBeNull()
  })

  it('a change of a record that somebody is at work on is refused, and changes nothing', async () => {
    const charge = operation()
    await intrude(charge, { state: '6' })
    const seen = await admin().find(charge)
    const other = await place.pool.getConnection()
    await other.query('begin')
    await other.query('select * from oncekey_record where k = unhex(?) for update', [seen?.id])
    await expect(admin().forget(seen as never, { ...by, force: true })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    await other.query('rollback')
    other.release()
    expect(await row(charge)).toMatchObject({ state: STATE.unknown })
  })

  it('a sweep waits for nobody’s work, and takes nothing from it', async () => {
    const [mine, gone, lapsed] = [operation(), operation(), operation()]
    await intrude(mine, { state: '5', expires_at: PAST })
    await intrude(gone, { state: '5', expires_at: PAST })
    await intrude(lapsed, { state: '1', fence: '7', lease_end: PAST, body: `'{"key":"k","retainMs":3600000}'` })
    await run(mine, async ({ tx }) => {
      await place.write(tx, mine.key)
      expect(await admin().sweep({ batch: 1, pauseMs: 0 })).toMatchObject({ removed: 1, abandoned: 1, complete: true })
    })
    expect(await row(gone)).toBeUndefined()
    expect((await run(mine, never)).kind).toBe('replayed')
    const open = await row(lapsed)
    expect(open).toMatchObject({ state: STATE.open, fence: 7 })
    // For as long as its writer would have kept an answer.
    const [rows] = await place.pool.query<RowDataPacket[]>(`select ? - (${LIVE}) as left_us`, [open?.expires_at])
    expect(Math.abs(Number(rows[0]?.left_us))).toBeLessThan(60_000_000)
  })

  it('a sweeper that died lets the next one in after its claim, which goes on from its place', async () => {
    for (let n = 0; n < 4; n += 1) await intrude(operation(), { state: '5', expires_at: PAST })
    expect(await admin().sweep({ batch: 1, pauseMs: 0, limit: 2 })).toMatchObject({ removed: 2, complete: false })
    await place.pool.query(`update oncekey_meta set sweeper = unhex(repeat('ab', 16)), sweeper_until = ${LIVE}`)
    expect(await admin().sweep()).toMatchObject({ removed: 0, complete: false, elsewhere: true })
    await place.pool.query(`update oncekey_meta set sweeper_until = ${PAST}`)
    expect(await admin().sweep()).toMatchObject({ removed: 2, complete: true })
  })

  it('a lost lease fails inside SQL, so that COMMIT never comes and the writes of its work go with it (L1)', async () => {
    const store = mysql(fromMysql2(place.pool), { mode: 'lease', ...databaseOnly })
    const charge = operation()
    const told = await once(store, charge, async (grant) => {
      await place.write(await grant.begin(), charge.key)
      // Somebody else settles it, and somebody else again has it by now.
      await intrude(charge, { state: '1', fence: '9', token: `x'${'09'.repeat(16)}'`, lease_end: LIVE })
      return 'mine'
    })
    expect(told.kind).toBe('busy')
    expect(await place.count(charge.key)).toBe(0)
    expect(await row(charge)).toMatchObject({ fence: 9 })
  })

  it('a late transaction that a deadlock or DDL has ended is held, never kept and never free (T3)', async () => {
    const store = mysql(fromMysql2(place.pool), { mode: 'lease', ...databaseOnly })
    const charge = operation()
    const told = await once(store, charge, async (grant) => {
      const tx = await grant.begin()
      await place.write(tx, charge.key)
      await tx.query('create table if not exists unwise (n int)')
      return 'mine'
    })
    expect(told.kind).toBe('unknown')
    expect(await store.admin.find(charge)).toMatchObject({
      state: 'unknown',
      why: 'the work ended its own transaction',
    })
  })
})
