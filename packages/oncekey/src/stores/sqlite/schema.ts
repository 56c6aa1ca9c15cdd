/** Whether this build may use what stands in a file, and what makes it so. */
import { OncekeyError } from '../../core/errors.ts'
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

/** The epoch of the file. Throws `SCHEMA_MISSING`, `SCHEMA_TOO_NEW` or `SCHEMA_MISMATCH` (I4). */
export function checkSchema(sql: Sql, tables: Tables, known?: string): string {
  if (versionOf(sql, tables) < SCHEMA_VERSION)
    throw new OncekeyError('SCHEMA_MISSING', {
      what: 'The tables are not there, or not up to date.',
      where: tables.record,
      why: 'Without them nothing can be remembered.',
      fix: 'Call `store.admin.migrate()` once, or leave `migrations` at `automatic`.',
    })
  const meta = sql.get({ text: `select identity_scheme, min_reader, epoch from ${tables.meta}`, params: [] })
  if (Number(meta?.min_reader) > READER)
    throw new OncekeyError('SCHEMA_TOO_NEW', {
      what: `The file asks for a reader of version ${Number(meta?.min_reader)}; this build is version ${READER}.`,
      where: tables.meta,
      why: 'A later release writes records that this build would not understand.',
      fix: 'Update oncekey in this process.',
    })
  const epoch = meta && digits(meta.epoch as Uint8Array)
  if (
    epoch === undefined ||
    Number(meta?.identity_scheme) !== IDENTITY_SCHEME ||
    (known !== undefined && known !== epoch)
  )
    throw new OncekeyError('SCHEMA_MISMATCH', {
      what: 'The file is not the one that this store began with, or names its records by other rules.',
      where: tables.meta,
      why: 'Operations that are remembered elsewhere would run again.',
      fix: 'Restart the process if the file was replaced on purpose; settle what was running before.',
    })
  return epoch
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
