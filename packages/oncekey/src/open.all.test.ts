/** Stores by their address, on the servers that the quick tests leave out. */
import { expect, it } from 'vitest'
import { describeDynalite } from '../../../test/support/dynamodb.ts'
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
