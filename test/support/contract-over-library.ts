// The store contract over a library that installs apart from us, under node:test: in a database of its own, dropped at the end.
import { after, before, beforeEach, describe, it } from 'node:test'
import type { InTransaction } from 'oncekey'
import type { Database } from 'oncekey/postgres'
import { type Settings, type Subject, storeContract } from 'oncekey/testing'
import { SHOWN } from './contract-shown.ts'
import type { Ground } from './grounds-apart.ts'

export interface Opened<Tx> {
  readonly database: Database<Tx>
  /** One statement of the user's through the handle. */
  run(tx: Tx, sql: string): Promise<unknown>
  end(): Promise<unknown>
}

export function contractOver<Tx>(name: string, ground: Ground, open: (url: string) => Promise<Opened<Tx>>): void {
  describe(`through ${name}`, () => {
    const { url, ask } = ground.fresh()
    let opened: Opened<Tx>

    before(async () => {
      opened = await open(url)
      await ground.store(opened.database).admin.migrate()
    })
    // A sweep sees the whole table.
    beforeEach(() => ask(`delete from ${ground.record}`))
    after(() => opened.end())

    function make({ retain, work, claimMs, drain }: Settings): Subject<InTransaction<Tx>> {
      const told = Object.entries({ retain, work, claimMs, drain }).filter(([, value]) => value !== undefined)
      const factory = () => ground.store(opened.database, Object.fromEntries(told))
      let store = factory()
      return {
        store,
        another: factory,
        async reopen() {
          await store[Symbol.asyncDispose]()
          store = factory()
          return store
        },
        effects: {
          write: async ({ tx }, mark) => void (await opened.run(tx, `insert into effect (mark) values ('${mark}')`)),
          count: async (mark) => (await ask(`select 1 from effect where mark = '${mark}'`)).length,
        },
        damage: async (id) => void (await ask(`update ${ground.record} set state = 42 where k = ${ground.key(id)}`)),
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      }
    }
    storeContract(make, { ...SHOWN, name }, { runner: { describe, it } as never })
  })
}
