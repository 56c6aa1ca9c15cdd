// MariaDB through HTTP: races between processes, owners killed with SIGKILL, and a server that goes away.
import { databaseOnly } from 'oncekey'
import { fromMysql2, mysql } from 'oncekey/mysql'
import { describe, it, onTestFinished, vi } from 'vitest'
import { crashes } from './support/crashes.ts'
import { mariadbArenas, mariadbGround } from './support/grounds/mysql.ts'
import { describeMariadb, mariadbUrl, poolAt } from './support/mariadb.ts'
import { opened, outages } from './support/outages.ts'
import { changedBodies, race } from './support/race.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

describeMariadb.each(mariadbArenas)('$name, $mode mode', (arena) => {
  const { mode: MODE, ground } = arena

  describe('a hundred identical requests at two processes end in one charge each round (idempot-dev/idempot-js#182)', () => {
    it.each(['hono', 'express'])('on %s', async (FRAMEWORK) => race(await ground(), { MODE, FRAMEWORK }))
    it('while fifty changed bodies get 422 (idempot-dev/idempot-js#183)', async () =>
      changedBodies(await ground(), { MODE, FRAMEWORK: 'express' }))
  })

  describe('a process killed with SIGKILL', () => crashes(arena))
})

describeMariadb('a MariaDB that goes away', () => {
  async function place(url: string) {
    const { env, charges } = await mariadbGround()
    const through = new URL(url)
    through.pathname = new URL(`${env.STORE}`).pathname
    const pool = poolAt(through.href, { connectionLimit: 4 })
    onTestFinished(() => pool.end().catch(() => {}))
    return { pool, charges }
  }
  const to = () => mariadbUrl()
  const insert = 'insert into charge (amount) values (1)'

  describe('in transaction mode', () => {
    outages({
      mode: 'transaction',
      effect: 'inside',
      to,
      async open(url) {
        const { pool, charges } = await place(url)
        const store = mysql(fromMysql2(pool), { work: '2s' })
        return opened(store, { charges, charge: ({ tx }) => tx.query(insert) })
      },
    })
  })

  describe('in lease mode', () => {
    outages({
      mode: 'lease',
      effect: 'inside',
      to,
      async open(url) {
        const { pool, charges } = await place(url)
        const store = mysql(fromMysql2(pool), { mode: 'lease', lease: '1s', work: '2s', ...databaseOnly })
        return opened(store, { charges, charge: async (grant) => (await grant.begin()).query(insert) })
      },
    })
  })
})
