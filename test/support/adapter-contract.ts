// The store contract over one way to reach PostgreSQL, in a database that the caller names.
import { describe, it } from 'vitest'
import type { Duration } from '../../packages/oncekey/src/core/clock.ts'
import type { InTransaction } from '../../packages/oncekey/src/core/store.ts'
import { type PostgresOptions, postgres } from '../../packages/oncekey/src/stores/postgres/index.ts'
import type { Settings, Subject } from '../../packages/oncekey/src/testing/store-contract/subject.ts'
import { storeContract } from '../../packages/oncekey/src/testing/store-contract.ts'
import { onPostgres } from './postgres.ts'
import type { Opened } from './postgres-adapters.ts'

export interface Arena {
  readonly name: string
  readonly schema: string
  /** Past poolers, for a look from outside. */
  direct(): string
  opened(): Opened
}

/** The schema has to be there, with a table `effect (mark text)` in it. */
export function contractIn({ name, schema, direct, opened }: Arena): void {
  const outside = (sql: string) => onPostgres(`begin read write; ${sql}; commit`, direct())
  const rows = (results: unknown) => (results as { rows: { n: number }[] }[])[1]?.rows ?? []

  function make({ retain, work, claimMs, drain }: Settings): Subject<InTransaction<unknown>> {
    const told: Record<string, Duration | undefined> = { retain, work, claimMs, drain }
    const options: PostgresOptions = {
      schema,
      ...Object.fromEntries(Object.entries(told).filter(([, value]) => value)),
    }
    const factory = () => postgres(opened().database, options)
    let store = factory()
    let severed = false
    return {
      store,
      another: factory,
      async reopen() {
        await store[Symbol.asyncDispose]()
        store = factory()
        return store
      },
      effects: {
        async write({ tx }, mark) {
          await opened().run(tx, `insert into ${schema}.effect (mark) values ('${mark}')`)
        },
        count: async (mark) =>
          rows(await outside(`select count(*)::int as n from ${schema}.effect where mark = '${mark}'`))[0]?.n ?? 0,
      },
      async sever() {
        severed = true
        // A lone statement: in a block of two it would be stopped at itself.
        await onPostgres(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
          direct(),
        )
      },
      async damage(id) {
        await outside(`update ${schema}.record set state = 42 where k = '${id}'`)
      },
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        // The pool is the next rule's too, and a library (or a pooler) finds a dead connection when it uses it.
        const ask = () => opened().database.query({ text: 'select 1 as one', params: [] })
        if (severed) await Promise.all(Array.from({ length: 10 }, () => ask().catch(() => {})))
      },
    }
  }
  const shown = { clock: 'real', several: true, reopen: true, effects: true, damage: true, sever: true } as const
  storeContract(make, { mode: 'transaction', ...shown, name }, { runner: { describe, it } })
}
