/** Whether this build may use what stands in a file, and what makes it so. */
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Row } from '../database/database.ts'
import { digits } from '../row.ts'
import { type Connections, patiently } from './connections.ts'
import { IDENTITY_SCHEME, migrateWith, READER, SCHEMA_VERSION } from './migrations.ts'
import type { Sql } from './sql.ts'
import type { Tables } from './tables.ts'

/** Looks before it takes the write lock: a file that is up to date is only read. */
export async function migrateSchema<Tx>(
  { reader, writer }: Connections<Tx>,
  tables: Tables,
  until: number,
): Promise<void> {
  if ((await patiently(() => versionOf(reader, tables), until)) >= SCHEMA_VERSION) return
  await patiently(() => writer.exec('begin immediate'), until)
  try {
    migrateWith(writer, tables)
    await patiently(() => writer.exec('commit'), until)
  } catch (error) {
    try {
      writer.exec('rollback')
    } catch {
      // It has rolled back by itself.
    }
    throw error
  }
}

export interface Meta {
  /** Another epoch later on: the records were restored or replaced under us. */
  readonly epoch: string
  readonly restored: Restored | undefined
}

/** Throws `SCHEMA_MISSING`, `SCHEMA_TOO_NEW` or `SCHEMA_MISMATCH` (I4). */
export function checkSchema(sql: Sql, tables: Tables): Meta {
  if (versionOf(sql, tables) < SCHEMA_VERSION)
    throw new OncekeyError('SCHEMA_MISSING', {
      what: 'The tables are not there, or not up to date.',
      where: tables.record,
      why: 'Without them nothing can be remembered.',
      fix: 'Call `store.admin.migrate()` once, or leave `migrations` at `automatic`.',
    })
  const meta = sql.get({ text: `select * from ${tables.meta}`, params: [] })
  if (Number(meta?.min_reader) > READER)
    throw new OncekeyError('SCHEMA_TOO_NEW', {
      what: `The file asks for a reader of version ${Number(meta?.min_reader)}; this build is version ${READER}.`,
      where: tables.meta,
      why: 'A later release writes records that this build would not understand.',
      fix: 'Update oncekey in this process.',
    })
  if (!meta || Number(meta.identity_scheme) !== IDENTITY_SCHEME) throw otherRecords(tables)
  return metaFrom(meta)
}

/** What is neither of the two words is the one that runs nothing. */
export function metaFrom({ epoch, restored_at, on_epoch_change }: Row): Meta {
  const at = restored_at === null ? undefined : new Date(Number(restored_at))
  const onEpochChange = on_epoch_change === 'run' ? 'run' : 'refuse'
  return { epoch: digits(epoch as Uint8Array), restored: at && { at, onEpochChange } }
}

export function otherRecords({ meta }: Tables): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: 'The records are not the ones that this store began with, or are named by other rules.',
    where: meta,
    why: 'Operations that are remembered elsewhere would run again.',
    fix: 'Start the process again if they were restored or replaced on purpose; settle what was running before.',
  })
}

function versionOf(sql: Sql, { migration }: Tables): number {
  const name = migration.slice('main.'.length).replaceAll('"', '')
  const found = sql.get({
    text: "select 1 as found from main.sqlite_schema where type = 'table' and name = ?1",
    params: [name],
  })
  if (!found) return 0
  return Number(sql.get({ text: `select max(version) as version from ${migration}`, params: [] })?.version ?? 0)
}
