/** Every schema change there was, in order, and what brings a file to this build's version. */

import type { Sql } from './sql.ts'
import type { Tables } from './tables.ts'

/** How identities are made of scope and key; records of another scheme would never be found. */
export const IDENTITY_SCHEME = 1
/** What this build can read: it refuses a file whose `min_reader` is above. */
export const READER = 1

interface Migration {
  readonly version: number
  readonly name: string
  statements(tables: Tables): readonly string[]
}

const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'record',
    statements: ({ record, audit, meta }) => [
      // Digests are 16 bytes, never 32 letters. Without rowid the row stands in the tree of its own key: one page per
      // look instead of two, 108 bytes per key instead of 250 in the usual shape. No index but the key; lists scan.
      `create table ${record} (
         k           blob    not null primary key,
         fingerprint blob    not null,
         expires_at  integer,
         lease_end   integer,
         fence       integer,
         token       blob,
         state       integer not null,
         body        blob
       ) without rowid`,
      // What people wrote stands in bytes, never in text or json: no encoding can refuse it.
      `create table ${audit} (
         id     integer not null primary key autoincrement,
         at     integer not null,
         k      blob    not null,
         action text    not null,
         state  integer,
         fence  integer,
         label  blob,
         who    blob    not null,
         why    blob    not null
       )`,
      `create table ${meta} (
         one             integer not null primary key check (one = 1),
         identity_scheme integer not null,
         min_reader      integer not null,
         epoch           blob    not null,
         fence           integer not null
       )`,
      `insert into ${meta} (one, identity_scheme, min_reader, epoch, fence) values (1, 1, 1, randomblob(16), 0)`,
    ],
  },
  {
    version: 2,
    name: 'meta',
    // What the one row remembers of restores and of the sweep that is at work; the release before reads none of it.
    statements: ({ meta }) =>
      ['restored_at integer', 'on_epoch_change text', 'sweeper blob', 'sweeper_until integer', 'sweep_place blob'].map(
        (column) => `alter table ${meta} add column ${column}`,
      ),
  },
]

/** The version that this build needs to find. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Under the write lock, in one transaction: several processes that start at once do it one after the other. */
export function migrateWith(sql: Sql, tables: Tables): void {
  sql.exec(`create table if not exists ${tables.migration} (
    version    integer not null primary key,
    name       text    not null,
    applied_at integer not null default (cast(unixepoch('subsec') * 1000 as integer))
  )`)
  const done = new Set(
    sql.all({ text: `select version from ${tables.migration}`, params: [] }).map(({ version }) => version),
  )
  for (const { version, name, statements } of MIGRATIONS) {
    if (done.has(version)) continue
    for (const statement of statements(tables)) sql.exec(statement)
    sql.run({ text: `insert into ${tables.migration} (version, name) values (?1, ?2)`, params: [version, name] })
  }
}
