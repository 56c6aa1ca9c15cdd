/** A store of transaction mode and one of lease mode on one table, and even on one key: one charge each (T2). */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { sleep } from '../../core/clock.ts'
import { type OnceOptions, once } from '../../core/once.ts'
import type { Operation } from '../../core/operation.ts'
import { databaseOnly } from '../../core/policy.ts'
import type { InTransaction, LeasedInDatabase, Store } from '../../core/store.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

const ROUNDS = process.env.ONCEKEY_TEST_ALL === '1' ? 300 : 40
const receipt = Uint8Array.of(1)

describePostgres('both modes on one table of PostgreSQL', () => {
  const port = freshLeasePort({ connections: 16 })
  let t: Store<InTransaction<pg.PoolClient>>
  let l: Store<LeasedInDatabase<pg.PoolClient>>

  beforeAll(async () => {
    t = postgres(fromPg(port.pool), { schema: port.schema, maxWinners: 6, claimMs: '10s' })
    l = postgres(fromPg(port.pool), {
      mode: 'lease',
      schema: port.schema,
      maxWinners: 6,
      claimMs: '10s',
      ...databaseOnly,
    })
    await port.pool.query(`create table ${port.schema}.charge (key text not null)`)
  })

  const insert = (tx: pg.PoolClient, key: string) => tx.query(`insert into ${port.schema}.charge values ($1)`, [key])
  async function charges(key: string): Promise<number> {
    const { rows } = await port.pool.query(`select count(*)::int as n from ${port.schema}.charge where key = $1`, [key])
    return rows[0].n
  }
  function inTransaction(operation: Operation, pauseMs: number, options?: OnceOptions<string>) {
    return once(
      t,
      operation,
      async ({ tx }) => {
        await insert(tx, operation.key)
        await sleep(pauseMs)
        return 'by transaction'
      },
      options,
    )
  }
  function byLease(operation: Operation, pauseMs: number, options?: OnceOptions<string>) {
    return once(
      l,
      operation,
      async ({ begin }) => {
        await sleep(pauseMs)
        await insert(await begin(), operation.key)
        return 'by lease'
      },
      options,
    )
  }
  /** The record that a lease owner left behind; whose lease is over, unless said otherwise. */
  async function leftBehind(columns = 'lease_end = clock_timestamp()') {
    const owned = wanted()
    const held = await port.won(owned)
    await port.set(owned.id, columns)
    return { held, operation: { scope: owned.label.scope, key: owned.label.key, fingerprints: ['body'] as const } }
  }

  it('transaction mode is busy while a lease runs, and replays what the lease kept', async () => {
    const { operation, held } = await leftBehind(`lease_end = clock_timestamp() + interval '1 hour'`)
    expect((await inTransaction(operation, 0)).kind).toBe('busy')
    await port.driver.complete(held, { spent: 'not-kept' })
    expect((await inTransaction(operation, 0)).kind).toBe('not-kept')
  })

  it('transaction mode replaces a lease that ran out, and its former owner is refused', async () => {
    const { operation, held } = await leftBehind()
    expect(await inTransaction(operation, 0)).toMatchObject({ kind: 'ran' })
    expect(await port.driver.complete(held, { receipt })).toMatchObject({ record: { state: 'finished' } })
    expect(await byLease(operation, 0)).toMatchObject({ kind: 'replayed', value: 'by transaction' })
    expect(await charges(operation.key)).toBe(1)
  })

  it('a lease that is claimed while a transaction works on the key keeps it: the transaction is rolled back and replays', async () => {
    const operation: Operation = { scope: 's', key: 'overtaken', fingerprints: ['f'] }
    const slow = inTransaction(operation, 400)
    await sleep(150)
    expect(await byLease(operation, 0)).toMatchObject({ kind: 'ran' })
    expect(await slow).toMatchObject({ kind: 'replayed', value: 'by lease' })
    expect(await charges('overtaken')).toBe(1)
  })

  it('a transaction that judged a lease over does not write over the one who took it meanwhile (T2)', async () => {
    const { operation } = await leftBehind()
    const slow = inTransaction(operation, 400)
    await sleep(150)
    expect(await byLease(operation, 0)).toMatchObject({ kind: 'ran' })
    expect(await slow).toMatchObject({ kind: 'replayed', value: 'by lease' })
    expect(await charges(operation.key)).toBe(1)
  })

  it('a transaction that judged a finished record over does not write over the claim that came meanwhile (T2)', async () => {
    const { operation, held } = await leftBehind(`lease_end = clock_timestamp() + interval '1 hour'`)
    await port.driver.complete(held, { receipt })
    await port.set(held.id, 'expires_at = clock_timestamp()')
    const slow = inTransaction(operation, 400)
    await sleep(150)
    expect(await byLease(operation, 0)).toMatchObject({ kind: 'ran' })
    expect(await slow).toMatchObject({ kind: 'replayed', value: 'by lease' })
    expect(await charges(operation.key)).toBe(1)
  })

  it(`is one charge per key in ${ROUNDS} rounds, from nothing, from an open lease and from a lost one`, {
    timeout: 180_000,
  }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const starts = [
        'lease_end = clock_timestamp()',
        `state = 3, lease_end = null, expires_at = clock_timestamp() + interval '1 hour'`,
      ]
      const columns = starts[round % 3]
      const operation: Operation = columns
        ? (await leftBehind(columns)).operation
        : { scope: 's', key: `round-${round}`, fingerprints: ['body'] }
      const callers = Array.from({ length: 8 }, async (_, at) => {
        await sleep(Math.random() * 6)
        const outcome = await (at % 2 ? inTransaction : byLease)(operation, Math.random() * 8, {
          policy: { wait: '8s' },
        })
        return outcome.kind
      })
      const kinds = await Promise.all(callers)
      expect(kinds.filter((kind) => kind === 'ran')).toHaveLength(1)
      // Whose transaction met a lease that still runs is busy, and was rolled back.
      expect(['ran', 'replayed', 'busy']).toEqual(expect.arrayContaining(kinds))
      expect(await charges(operation.key)).toBe(1)
    }
  })
})
