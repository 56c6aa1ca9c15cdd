/** Stores by their address, on the servers that the quick tests leave out. */
import type { PoolConnection } from 'mysql2/promise'
import { expect, it } from 'vitest'
import { describeDynalite } from '../../../test/support/dynamodb.ts'
import { describeMariadb, freshMariadb } from '../../../test/support/mariadb.ts'
import { once } from './core/once.ts'
import { databaseOnly } from './core/policy.ts'
import { openStore } from './open.ts'

const operation = { scope: 'acct_1', key: 'k', fingerprints: ['body'] as [string] }
const lease = { mode: 'lease', ...databaseOnly } as const

describeDynalite('dynamodb:', (server) => {
  it('takes table and endpoint, and the table may be named apart from the address', async () => {
    const table = server.table()
    const endpoint = encodeURIComponent(server.url)
    {
      await using store = await openStore(`dynamodb:${table}?endpoint=${endpoint}&region=eu-central-1`, lease)
      await expect(once(store, operation, async () => 0)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
      await store.admin.migrate()
      expect(await once(store, operation, async ({ tx }) => tx !== undefined)).toMatchObject({ value: true })
    }
    await using store = await openStore(`dynamodb:?endpoint=${endpoint}`, { ...lease, schema: table })
    expect(await once(store, operation, async () => 0)).toMatchObject({ kind: 'replayed' })
  })
})

describeMariadb('mysql: and mariadb:', () => {
  const fresh = freshMariadb()
  it('take a database, and the prefix of the tables from `schema`', async () => {
    {
      await using store = await openStore<PoolConnection>(fresh.url, { schema: 'shop' })
      await expect(once(store, operation, async () => 0)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
      await store.admin.migrate()
      expect(await once(store, operation, async ({ tx }) => tx.threadId > 0)).toMatchObject({ value: true })
    }
    await using leased = await openStore(fresh.url.replace('mysql:', 'mariadb:'), { ...lease, schema: 'shop' })
    expect(await once(leased, operation, async () => 0)).toMatchObject({ kind: 'replayed' })
  })
})
