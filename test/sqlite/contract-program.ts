/** The store contract over node:sqlite, as a program: Node 20, which runs our tests, does not have it. Prints one line of JSON. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Grant } from '../../packages/oncekey/src/core/store.ts'
import type { SqliteConnection, SqliteDriver } from '../../packages/oncekey/src/stores/sqlite/driver.ts'
import { type SqliteStore, sqlite } from '../../packages/oncekey/src/stores/sqlite/index.ts'
import { STORE_RULES } from '../../packages/oncekey/src/testing/store-contract/rules.ts'
import { checkStore } from '../../packages/oncekey/src/testing/store-contract.ts'

type Transaction = Grant & { readonly tx?: SqliteConnection; begin?(): Promise<SqliteConnection> }

const [library = 'node:sqlite'] = process.argv.slice(2)
const module = (await import(library)) as { DatabaseSync?: SqliteDriver; default?: SqliteDriver }
const driver = (module.DatabaseSync ?? module.default) as SqliteDriver
const folder = mkdtempSync(join(tmpdir(), 'oncekey-sqlite-'))
const broken: string[] = []
let shown = 0
let files = 0

for (const mode of ['transaction', 'lease'] as const) {
  const results = await checkStore<Transaction>(
    async (settings) => {
      const path = join(folder, `${++files}.db`)
      const open = () => {
        const options = { driver, ...settings, durability: 'normal', lockMs: 2_000 } as const
        const store = mode === 'lease' ? sqlite(path, { ...options, mode }) : sqlite(path, options)
        return store as unknown as SqliteStore<Transaction, SqliteConnection>
      }
      let store = open()
      await store.write((tx) => tx.exec('create table effect (mark text not null)'))
      const outside = new driver(path)
      return {
        store,
        another: open,
        async reopen() {
          await store[Symbol.asyncDispose]()
          store = open()
          return store
        },
        effects: {
          async write(grant, mark) {
            const tx = grant.tx ?? (await grant.begin?.())
            tx?.prepare('insert into effect (mark) values (?)').run(mark)
          },
          async count(mark) {
            const row = outside.prepare('select count(*) as n from effect where mark = ?').get(mark)
            return (row as { n: number }).n
          },
        },
        damage(id) {
          outside.prepare('update oncekey_record set state = 42 where k = ?').run(Buffer.from(id, 'hex'))
        },
        async [Symbol.asyncDispose]() {
          await store[Symbol.asyncDispose]()
          outside.close()
        },
      }
    },
    { mode, clock: 'real', several: true, reopen: true, effects: true, damage: true },
    { rules: STORE_RULES.filter(({ title }) => mode === 'lease' || !title.startsWith('a sweep removes')) },
  )
  for (const { rule, title, skipped, error } of results) {
    if (skipped === undefined) shown += 1
    if (error !== undefined) broken.push(`${mode}: ${rule}: ${title}: ${(error as Error).message}`)
  }
}
rmSync(folder, { recursive: true, force: true })
console.log(JSON.stringify({ node: process.version, shown, broken }))
