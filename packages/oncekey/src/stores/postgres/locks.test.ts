/** T4: what the locks say while an operation runs, on a real PostgreSQL; the stress with 3,000 keys stands in `locks.all.test.ts`. */
import { expect, it } from 'vitest'
import { contend } from '../../../../../test/support/contention.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, never, operation } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { identify } from '../../core/operation.ts'
import { fromPg } from '../database/pg.ts'
import { locksOf } from '../transactional/locks.ts'
import { postgres } from './index.ts'

describePostgres('T4: while an operation runs', () => {
  const place = transactionPlace()
  const { run } = chargesAt(place)
  const during = (fingerprints: [string, ...string[]], repeat: [string, ...string[]]) => {
    const charge = operation({ fingerprints })
    return new Promise((resolve, reject) => {
      run(charge, async () => resolve((await run({ ...charge, fingerprints: repeat }, never)).kind)).catch(reject)
    })
  }

  it.each([
    ['the same request', ['a'], ['a'], 'busy'],
    ['another request', ['a'], ['b'], 'mismatch'],
    ['a newer release that knows the old fingerprint', ['a'], ['b', 'a'], 'busy'],
    ['an older release whose fingerprint the owner knows', ['b', 'a'], ['a'], 'busy'],
    ['a release that has moved its first fingerprint', ['a', 'b'], ['b', 'a'], 'busy'],
    ['another request with as many fingerprints', ['a', 'b'], ['c', 'd'], 'mismatch'],
  ] as const)('%s is answered at once', async (_, owner, repeat, answer) => {
    expect(await during([...owner], [...repeat])).toBe(answer)
  })

  it('a duplicate that holds nothing but its own fingerprint is never taken for the owner', async () => {
    const charge = operation({ fingerprints: ['a'] })
    const { prints } = locksOf(identify({ ...charge, fingerprints: ['b'] }), JSON.stringify([place.schema]))
    const bystander = await place.pool.connect()
    try {
      await bystander.query('begin')
      await bystander.query('select pg_advisory_xact_lock_shared($1)', [prints[0]])
      const outcome = await run(charge, async () => (await run({ ...charge, fingerprints: ['b'] }, never)).kind)
      expect(outcome).toMatchObject({ kind: 'ran', value: 'mismatch' })
    } finally {
      await bystander.query('rollback')
      bystander.release()
    }
  })

  it('an owner whose mark was refused is recognised by what it holds', async () => {
    const charge = operation({ fingerprints: ['a'] })
    const { owners } = locksOf(identify(charge), JSON.stringify([place.schema]))
    const bystander = await place.pool.connect()
    try {
      await bystander.query('begin')
      await bystander.query('select pg_advisory_xact_lock_shared($1)', [owners[0]])
      const outcome = await run(charge, async () => [
        (await run(charge, never)).kind,
        (await run({ ...charge, fingerprints: ['b'] }, never)).kind,
      ])
      expect(outcome).toMatchObject({ kind: 'ran', value: ['busy', 'mismatch'] })
    } finally {
      await bystander.query('rollback')
      bystander.release()
    }
  })

  it('two schemas of one database do not meet', async () => {
    const other = `${place.schema}_other`
    const elsewhere = postgres(fromPg(place.pool), { schema: other })
    await elsewhere.admin.migrate()
    try {
      const charge = operation()
      const outcome = await run(charge, async () => (await run(charge, async () => 'inner', {}, elsewhere)).kind)
      expect(outcome).toMatchObject({ kind: 'ran', value: 'ran' })
    } finally {
      await place.pool.query(`drop schema ${other} cascade`)
    }
  })

  it('contended keys start once, and every caller gets the right answer (300 keys, 6 callers)', {
    timeout: 60_000,
  }, async () => {
    const stores = [1, 2].map(() =>
      postgres(fromPg(place.open(undefined, { max: 20 })), { schema: place.schema, claimMs: '20s' }),
    )
    const { starts, same, other } = await contend({ stores, keys: 300, callers: 6, changed: 2 })
    expect(starts).toBe(300)
    expect(Object.keys(same).sort()).toEqual(expect.arrayContaining(['ran']))
    expect(same.ran).toBe(300)
    expect(same.mismatch).toBeUndefined()
    expect(Object.keys(other)).toEqual(['mismatch'])
  })
})
