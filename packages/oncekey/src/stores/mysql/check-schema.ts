/** Refuses to run on tables that are missing, made for later releases, or of another identity scheme (I4), and on a server that forgets. */
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Database, Row } from '../database/database.ts'
import { mysqlError } from '../database/mysql-error.ts'
import { IDENTITY_SCHEME, READER, SCHEMA_VERSION } from './migrations/index.ts'
import { type Names, namesWith } from './names.ts'
import { askSchema } from './statements/ask-schema.ts'

export interface SchemaOptions {
  readonly prefix: string
  /** Whether a server that does not flush each COMMIT is refused. */
  readonly durability: 'every-commit' | 'as-configured'
}
export interface Checked {
  /** Another epoch later on: the records were restored or replaced under us. */
  readonly epoch: string
  readonly restored: Restored | undefined
  readonly mariadb: boolean
}

/** Read at start and by each sweep, never per request. */
export async function checkSchema<Tx>(
  database: Pick<Database<Tx>, 'query'>,
  { prefix, durability }: SchemaOptions,
): Promise<Checked> {
  const meta = await askMeta(database, namesWith(prefix))
  const version = Number(meta?.version ?? 0)
  if (!meta || version < SCHEMA_VERSION) throw missing(prefix, version)
  if (Number(meta.min_reader) > READER) throw tooNew(prefix, Number(meta.min_reader))
  if (Number(meta.identity_scheme) !== IDENTITY_SCHEME) throw mismatch(prefix, Number(meta.identity_scheme))
  if (Number(meta.autocommit) === 0) throw noAutocommit()
  if (durability === 'every-commit' && Number(meta.flush) !== 1) throw notDurable(Number(meta.flush))
  return { epoch: String(meta.epoch), restored: restoredIn(meta), mariadb: /mariadb/i.test(String(meta.server)) }
}

async function askMeta<Tx>(database: Pick<Database<Tx>, 'query'>, names: Names): Promise<Row | undefined> {
  try {
    const [meta] = await database.query(askSchema(names))
    return meta
  } catch (error) {
    // No such table.
    if (mysqlError(error)?.errno === 1146) return undefined
    throw error
  }
}

function restoredIn({ restored_us, on_epoch_change }: Row): Restored | undefined {
  if (restored_us === null || restored_us === undefined) return undefined
  return {
    at: new Date(Math.floor(Number(restored_us) / 1_000)),
    onEpochChange: on_epoch_change === 'refuse' ? 'refuse' : 'run',
  }
}

function missing(prefix: string, version: number): OncekeyError {
  return new OncekeyError('SCHEMA_MISSING', {
    what: version === 0 ? `There are no tables ${prefix}….` : `The tables ${prefix}… are at version ${version}.`,
    where: 'mysql',
    why: `This release needs version ${SCHEMA_VERSION}, and changes no database by surprise.`,
    fix: 'Run `await store.admin.migrate()` once, before this release takes traffic.',
    details: { prefix, version, needed: SCHEMA_VERSION },
  })
}

function tooNew(prefix: string, minReader: number): OncekeyError {
  return new OncekeyError('SCHEMA_TOO_NEW', {
    what: `The tables ${prefix}… are for releases that can read format ${minReader}; this one reads ${READER}.`,
    where: 'mysql',
    why: 'It would misread records and could run an operation twice.',
    fix: 'Deploy a newer release of oncekey.',
    details: { prefix, minReader, reader: READER },
  })
}

function mismatch(prefix: string, scheme: number): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The tables ${prefix}… name their records by identity scheme ${scheme}, not ${IDENTITY_SCHEME}.`,
    where: 'mysql',
    why: 'No record would be found, and everything would run again.',
    fix: 'Use the release that wrote them, or another prefix (`await store.admin.migrate()` makes its tables).',
    details: { prefix, scheme },
  })
}

function noAutocommit(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'The sessions of this pool have autocommit switched off.',
    where: 'mysql',
    why: 'Each look would open a transaction that nobody ends, and would go on seeing the past.',
    fix: 'Leave autocommit on; transactions are opened where they are needed.',
  })
}

function notDurable(flush: number): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `innodb_flush_log_at_trx_commit is ${flush}.`,
    where: 'mysql',
    why: 'A crash loses commits of the last second: an answer that has left could be forgotten, and its operation run again.',
    fix: "Set it to 1, or say `durability: 'as-configured'` where losing some is acceptable.",
    details: { flush },
  })
}
