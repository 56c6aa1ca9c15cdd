/** Brings the schema to this build's version: by the operator's word, never by surprise. */
import { sleep } from '../../core/clock.ts'
import type { Database, Row } from '../database/database.ts'
import { sqlState } from '../database/sql-state.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { identifier, literal, namesIn } from './names.ts'

/** DDL that waits for a lock makes everybody behind it wait too: give up early and come back. */
const LOCK_TIMEOUT_MS = 2_000
const ATTEMPTS = 15

/** Salted like every lock number of ours: 'oncekey' in ASCII, then the number of this lock. */
const MIGRATION_LOCK = 0x6f6e63656b657901n

export interface MigrateOptions {
  readonly schema: string
  /** For tests of what a later release would do. */
  readonly steps?: readonly Migration[]
}

/** Safe to call from several processes at once, and while the release before this one is at work. */
export async function migrate<Tx>(database: Database<Tx>, options: MigrateOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(database, options)
    } catch (error) {
      // 55P03: another process migrates, or somebody reads a table that is to change.
      if (sqlState(error) !== '55P03' || attempt === ATTEMPTS) throw error
      await sleep(200)
    }
  }
}

async function migrateOnce<Tx>(database: Database<Tx>, { schema, steps = migrations }: MigrateOptions): Promise<void> {
  const names = namesIn(schema)
  const opening = [
    { text: `select pg_catalog.set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`, params: [] },
    // One lock for all schemas of a database: two processes that start at once migrate one after the other.
    // As a text: Prisma reads no column of type `void`.
    { text: `select pg_catalog.pg_advisory_xact_lock(${MIGRATION_LOCK})::text`, params: [] },
  ]
  await database.transaction(opening, async function bringUp(tx) {
    const execute = database.on(tx)
    const run = (text: string): Promise<readonly Row[]> => execute({ text, params: [] })

    // Not `create ... if not exists`: that asks for the right to create even where there is nothing to create.
    const [found] =
      await run(`select exists (select from pg_catalog.pg_namespace where nspname = ${literal(schema)}) as schema,
                                      pg_catalog.to_regclass(${literal(names.migration)}) is not null as migration`)
    if (!found?.schema) await run(`create schema ${identifier(schema)}`)
    if (!found?.migration)
      await run(`create table ${names.migration} (
                   version    integer     primary key,
                   name       text        not null,
                   applied_at timestamptz not null default clock_timestamp()
                 )`)
    const done = new Set((await run(`select version from ${names.migration}`)).map((row) => Number(row.version)))
    for (const { version, name, statements } of steps) {
      if (done.has(version)) continue
      for (const statement of statements(names)) await run(statement)
      await run(`insert into ${names.migration} (version, name) values (${version}, ${literal(name)})`)
    }
    return { commit: [], value: undefined }
  })
}
