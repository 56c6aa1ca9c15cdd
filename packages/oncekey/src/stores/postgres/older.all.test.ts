/** The oldest PostgreSQL that a machine may still have beside the tests' own: the contract holds there too. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unprivileged } from '../../../../../scripts/services/account.mjs'
import { serverOf } from '../../../../../scripts/services/postgres.mjs'
import { packagedPostgres } from '../../../../../scripts/services/postgres-programs.mjs'
import { openRun } from '../../../../../scripts/services/run.mjs'
import { contractIn } from '../../../../../test/support/adapter-contract.ts'
import { onPostgres } from '../../../../../test/support/postgres.ts'
import { adapters, type Opened } from '../../../../../test/support/postgres-adapters.ts'
import { postgres } from './index.ts'

const found = packagedPostgres(unprivileged())
const usual = adapters.filter((adapter) => adapter.usual)

describe.each(found)('the PostgreSQL $version of this machine', (programs) => {
  const run = openRun()
  let url: string

  beforeAll(async () => {
    url = (await serverOf(programs, run)).url
    const first = usual[0]?.open(url) as Opened
    await postgres(first.database, { schema: 'kept' }).admin.migrate()
    await onPostgres('create table kept.effect (mark text not null)', url)
    await first.end()
  })
  afterAll(() => run.stop())

  it('is that one', async () => {
    const { rows } = await onPostgres('show server_version', url)
    expect(rows[0].server_version).toContain(programs.version)
  })

  describe.each(usual)('reached through $name', ({ name, open }) => {
    let opened: Opened

    beforeAll(() => {
      opened = open(url, 10)
    })
    beforeEach(async () => {
      await onPostgres('delete from kept.record', url)
    })
    afterAll(() => opened.end())

    contractIn({
      name: `Postgres, transaction mode, by ${name}, version ${programs.version}`,
      schema: 'kept',
      direct: () => url,
      opened: () => opened,
    })
  })
})
