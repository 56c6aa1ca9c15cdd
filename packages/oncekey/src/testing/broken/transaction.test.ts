/** The contract is worth what it notices: each broken store of transaction mode breaks exactly the rules that its fault is about. */
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { callbackOverPg } from '../../../../../test/support/callback-over-pg.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { type Connect, transactionPlace, type Vary } from '../../../../../test/support/postgres-transactions.ts'
import { fromPg } from '../../stores/database/pg.ts'
import { stateRules } from '../store-contract/states.ts'
import { transactionModeRules } from '../store-contract/transaction.ts'
import { checkStore } from '../store-contract.ts'
import { BROKEN_TRANSACTIONS } from './transaction.ts'

const rules = [...stateRules, ...transactionModeRules]
const capabilities = { mode: 'transaction', clock: 'real', several: true, effects: true, behind: true } as const

describePostgres('transaction mode with one fault', () => {
  const place = transactionPlace()
  let pipelined: pg.Pool
  beforeAll(() => {
    pipelined = place.open(undefined, { pipeline: true })
  })
  const apart: Connect = () => fromPg(pipelined, { pipeline: true })

  async function broken(connect: Connect, vary?: Vary): Promise<string[]> {
    const results = await checkStore(place.make(connect, vary), capabilities, { rules })
    return results.filter(({ error }) => error !== undefined).map(({ title }) => title)
  }

  it('without one breaks nothing', { timeout: 60_000 }, async () => {
    expect(await broken(apart)).toEqual([])
    expect(await broken((pool) => callbackOverPg(pool))).toEqual([])
  })

  it.each(BROKEN_TRANSACTIONS)(
    'a store that $name breaks what it is about, and nothing else',
    { timeout: 60_000 },
    async ({ breaks, spoils, mayBreak = [], vary }) => {
      const found = await broken(apart, vary)
      expect(found).toEqual(expect.arrayContaining([...breaks]))
      if (!spoils) expect([...breaks, ...mayBreak]).toEqual(expect.arrayContaining(found))
    },
  )

  it('a handle that outlives its work breaks T7, and nothing else', { timeout: 60_000 }, async () => {
    const unguarded: Connect = (pool) => callbackOverPg(pool, { guard: (tx) => ({ tx, close() {} }) })
    expect(await broken(unguarded)).toEqual(['a handle that outlives its work writes nothing'])
  })
})
