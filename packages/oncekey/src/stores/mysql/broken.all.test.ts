/** Guards of transaction mode on MariaDB, each taken away: the contract, or what is counted here, has to notice. */
import { expect, it } from 'vitest'
import { describeMariadb } from '../../../../../test/support/mariadb.ts'
import { chargesAt, never, operation } from '../../../../../test/support/mysql-charges.ts'
import { mysqlPlace } from '../../../../../test/support/mysql-transactions.ts'
import { stateRules } from '../../testing/store-contract/states.ts'
import { transactionModeRules } from '../../testing/store-contract/transaction.ts'
import { checkStore } from '../../testing/store-contract.ts'
import { fromMysql2 } from '../database/mysql2.ts'
import type { Dialect } from '../transactional/dialect.ts'
import { transactional } from '../transactional.ts'
import { mysqlDialect } from './dialect.ts'
import { mysql } from './index.ts'
import { transactionalFrom } from './options.ts'
import { schemaGuard } from './schema-guard.ts'

const rules = [...stateRules, ...transactionModeRules]
const capabilities = {
  mode: 'transaction',
  clock: 'real',
  several: true,
  effects: true,
  behind: true,
  heldRow: true,
} as const
const ENDED_BY_ITSELF = ['commit', 'rollback'].map(
  (how) => `work that ends its own transaction (${how}) is an unknown outcome, and is never run again`,
)

describeMariadb('transaction mode with one fault', () => {
  const place = mysqlPlace()
  const { run } = chargesAt(place)

  function storeWith(vary: (dialect: Dialect) => Dialect) {
    const database = fromMysql2(place.pool)
    const guard = schemaGuard(database, { prefix: 'oncekey_', durability: 'every-commit' })
    const { admin } = mysql(database)
    const dialect = vary(mysqlDialect('oncekey_', guard))
    return transactional(database, dialect, { name: 'broken', admin, ...transactionalFrom(database, {}) })
  }
  async function broken(vary: (dialect: Dialect) => Dialect): Promise<string[]> {
    const make = place.make((pool) => fromMysql2(pool), vary)
    const results = await checkStore(make, capabilities, { rules })
    return results.filter(({ error }) => error !== undefined).map(({ title }) => title)
  }

  it('without one breaks nothing', async () => {
    expect(await broken((dialect) => dialect)).toEqual([])
  })

  it('without the proof by the savepoint it takes the work’s own COMMIT for its own', async () => {
    const plain = { text: 'do 0', params: [] }
    expect(await broken((dialect) => ({ ...dialect, restore: [plain] }))).toEqual(
      expect.arrayContaining(ENDED_BY_ITSELF),
    )
  })

  it('without reading the uncommitted row it tells another request that it is the same', async () => {
    expect(await broken((dialect) => ({ ...dialect, readHolder: () => 'same' }))).toContain(
      'another request while the first runs is a mismatch, not busy',
    )
  })

  it('without the refusal at once a duplicate waits for the work of the first', async () => {
    const store = storeWith((dialect) => ({
      ...dialect,
      opening: (asked) =>
        dialect.opening(asked).map(({ text, params }) => ({
          text: text.replace('set statement innodb_lock_wait_timeout = 0 for ', ''),
          params,
        })),
    }))
    const charge = operation()
    let waited = 0
    await run(charge, async () => {
      const duplicate = run(charge, never, {}, store)
      const first = await Promise.race([duplicate, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])
      waited = first === 'waits' ? 1 : 0
      duplicate.catch(() => {})
    })
    expect(waited).toBe(1)
  })
})
