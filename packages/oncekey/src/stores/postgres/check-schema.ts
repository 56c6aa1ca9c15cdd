/** Refuses to run on a schema that is missing, made for later releases, or of another identity scheme (I4). */
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Database, Row } from '../database/database.ts'
import { sqlState } from '../database/sql-state.ts'
import { IDENTITY_SCHEME, READER, SCHEMA_VERSION } from './migrations/index.ts'
import type { Names } from './names.ts'
import { askSchema } from './statements/ask-schema.ts'

export interface Checked {
  /** Another epoch later on: the records were restored or replaced under us. */
  readonly epoch: string
  readonly restored: Restored | undefined
  /** The server looks whether its client is still there. */
  readonly checksClient: boolean
}

/** Read at start and by each sweep, never per request. */
export async function checkSchema<Tx>(database: Database<Tx>, names: Names): Promise<Checked> {
  const meta = await askMeta(database, names)
  const version = Number(meta?.version ?? 0)
  if (!meta || version < SCHEMA_VERSION) throw missing(names.schema, version)
  if (Number(meta.min_reader) > READER) throw tooNew(names.schema, Number(meta.min_reader))
  if (Number(meta.identity_scheme) !== IDENTITY_SCHEME) throw mismatch(names.schema, Number(meta.identity_scheme))
  return {
    epoch: String(meta.epoch),
    restored: restoredFrom(meta),
    checksClient: await checksClient(database, meta.checks_client === true),
  }
}

/** What is neither of the two words is the one that runs nothing. */
export function restoredFrom({ restored_us, on_epoch_change }: Row): Restored | undefined {
  if (restored_us === null) return undefined
  const at = new Date(Math.floor(Number(restored_us) / 1_000))
  return { at, onEpochChange: on_epoch_change === 'run' ? 'run' : 'refuse' }
}

async function askMeta<Tx>(database: Database<Tx>, names: Names) {
  try {
    const [meta] = await database.query(askSchema(names))
    return meta
  } catch (error) {
    // 42P01: no such table; 3F000: no such schema.
    const state = sqlState(error)
    if (state === '42P01' || state === '3F000') return undefined
    throw error
  }
}

/** Since PostgreSQL 14; on systems that cannot poll for it the server refuses the setting. */
async function checksClient<Tx>(database: Database<Tx>, known: boolean): Promise<boolean> {
  if (!known) return false
  try {
    await database.query({ text: "select set_config('client_connection_check_interval', '1000', true)", params: [] })
    return true
  } catch (error) {
    if (sqlState(error) === undefined) throw error
    return false
  }
}

function missing(schema: string, version: number): OncekeyError {
  return new OncekeyError('SCHEMA_MISSING', {
    what:
      version === 0 ? `The schema ${schema} has no tables of ours.` : `The schema ${schema} is at version ${version}.`,
    where: 'postgres',
    why: `This release needs version ${SCHEMA_VERSION}, and changes no database by surprise.`,
    fix: 'Run `await store.admin.migrate()` once, before this release takes traffic.',
    details: { schema, version, needed: SCHEMA_VERSION },
  })
}

function tooNew(schema: string, minReader: number): OncekeyError {
  return new OncekeyError('SCHEMA_TOO_NEW', {
    what: `The schema ${schema} is for releases that can read format ${minReader}; this one reads ${READER}.`,
    where: 'postgres',
    why: 'It would misread records and could run an operation twice.',
    fix: 'Deploy a newer release of oncekey.',
    details: { schema, minReader, reader: READER },
  })
}

function mismatch(schema: string, scheme: number): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The schema ${schema} names its records by identity scheme ${scheme}, not ${IDENTITY_SCHEME}.`,
    where: 'postgres',
    why: 'No record would be found, and everything would run again.',
    fix: 'Use the release that wrote it, or another schema (`await store.admin.migrate()` makes it).',
    details: { schema, scheme },
  })
}
