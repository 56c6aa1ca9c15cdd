/** Transaction mode over each library, held to the contract: on a plain database, and where its defaults are against us (T14). */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { contractIn } from '../../../../../test/support/adapter-contract.ts'
import { describePostgres, freshDatabase, onPostgres } from '../../../../../test/support/postgres.ts'
import { adapters, type Opened } from '../../../../../test/support/postgres-adapters.ts'
import { postgres } from './index.ts'

const everything = process.env.ONCEKEY_TEST_ALL === '1'
const plain = { title: 'a database', defaults: [] as string[] }
const against = [
  { title: 'a database of REPEATABLE READ', defaults: ["default_transaction_isolation = 'repeatable read'"] },
  { title: 'a database of READ ONLY', defaults: ['default_transaction_read_only = on'] },
]
const places = adapters.flatMap((adapter) =>
  [plain, ...(everything && adapter.usual ? against : [])].map((database) => ({ ...database, ...adapter })),
)

describePostgres.each(places)('$title, reached through $name', ({ name, title, open, defaults }) => {
  const fresh = freshDatabase()
  let opened: Opened

  beforeAll(async () => {
    const writable = open(fresh.url)
    await postgres(writable.database, { schema: 'kept' }).admin.migrate()
    await onPostgres('create table kept.effect (mark text not null)', fresh.url)
    await writable.end()
    for (const setting of defaults)
      await onPostgres(`alter database ${new URL(fresh.url).pathname.slice(1)} set ${setting}`)
    opened = open(fresh.url, 10)
  })
  beforeEach(async () => {
    await onPostgres('begin read write; delete from kept.record; commit', fresh.url)
  })
  afterAll(() => opened.end())

  contractIn({
    name: `Postgres, transaction mode, by ${name}, on ${title}`,
    schema: 'kept',
    direct: () => fresh.url,
    opened: () => opened,
  })
})
