/** PostgreSQL's half of transaction mode. */
import type { Statement } from '../database/database.ts'
import { sqlError } from '../database/sql-state.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { Dialect, Failure } from '../transactional/dialect.ts'
import { locksOf } from '../transactional/locks.ts'
import { namesIn } from './names.ts'
import { type SchemaGuard, schemaGuard } from './schema-guard.ts'
import { asOpened } from './statements/as-opened.ts'
import { holder } from './statements/holder.ts'
import { insert } from './statements/insert.ts'
import { look } from './statements/look.ts'
import { replace } from './statements/replace.ts'
import { type Limits, tryLocks } from './statements/try-locks.ts'
import { writeUnknown } from './statements/write-unknown.ts'
import { FOREIGN, REPLACED } from './statements/written.ts'

/** Beyond the work's own time: a client that lives gives up before the server does. */
const IDLE_MARGIN_MS = 5_000
/** What the setting can hold. */
const IDLE_MAX_MS = 2_147_483_647

export function postgresDialect(schema: string, guard?: Pick<SchemaGuard, 'start'>): Dialect {
  const names = namesIn(schema)
  const salt = JSON.stringify([schema])
  const savepoint = plain('savepoint oncekey_work')
  let checksClient = false

  return {
    name: 'postgres',
    async check(database) {
      checksClient = (await (guard ?? schemaGuard(database, schema)).start()).checksClient
    },
    opening(asked) {
      const { identity, workMs } = asked
      const limits = workMs === undefined ? undefined : limitsFor(workMs, checksClient)
      const locks = tryLocks(locksOf(identity, salt), limits)
      return [locks, look(names, identity.id), ...(asked.savepoint ? [savepoint] : [])]
    },
    read([locks, looked]) {
      const taken = locks?.[0] as LockRow | undefined
      const row = looked?.[0] as RecordRow | undefined
      if (!taken) throw new TypeError('the opening was not answered')
      const { lock, opened, isolation, writable } = taken
      return { lock, opened, isolation, writable, row, seen: seenFrom(row) }
    },
    look: (id) => look(names, id),
    readLook([row]) {
      const primary = row === undefined || row.on_primary === true
      return { primary, seen: seenFrom(row as RecordRow | undefined) }
    },
    holder: (identity) => holder(locksOf(identity, salt)),
    readHolder(rows) {
      if (rows.length === 0) return 'nobody'
      return rows.some(({ same }) => same === true) ? 'same' : 'other'
    },
    insert: (wanted) => insert(names, wanted),
    replace: (wanted, seen) => replace(names, wanted, seen),
    writeUnknown: (abandoned, seen) => writeUnknown(names, abandoned, seen),
    restore: [asOpened],
    undo: plain('rollback to savepoint oncekey_work'),
    failure: (error) => failureOf(error, schema),
    within: {
      begin: plain('savepoint oncekey_within'),
      undo: [plain('rollback to savepoint oncekey_within'), plain('release savepoint oncekey_within')],
      end: plain('release savepoint oncekey_within'),
      savepoint: plain('savepoint oncekey_within_work'),
      undoWork: plain('rollback to savepoint oncekey_within_work'),
      poison: plain("select ('oncekey: the work takes too long ' || now())::int"),
    },
  }
}

function limitsFor(workMs: number, checksClient: boolean): Limits {
  return { idleMs: Math.min(workMs + IDLE_MARGIN_MS, IDLE_MAX_MS), checksClient }
}

interface LockRow {
  readonly lock: 'mine' | 'same' | 'unsure'
  readonly opened: string
  readonly isolation: string
  readonly writable: boolean
}

/**
 * Behind the work only three statements of ours are sent. What else fails is a deferred constraint or trigger at COMMIT:
 * class 23, what PL/pgSQL raises, or anything that names the function it comes from.
 */
function failureOf(error: unknown, schema: string): Failure {
  const said = sqlError(error)
  if (said === undefined) return 'other'
  if (said.message.includes(FOREIGN)) return 'foreign'
  if (said.message.includes(REPLACED)) return 'raced'
  const ours = said.schema === schema && said.table === 'record'
  if (said.code === '23505' && ours && said.constraint === 'record_pkey') return 'raced'
  if (said.code === '25P02') return 'aborted'
  if (said.code === '42501' && said.where === undefined) return 'denied'
  // 25P01: no transaction; 3B001: the savepoint is gone with the transaction that it was in.
  if (said.code === '25P01' || said.code === '3B001') return 'no-transaction'
  if (!ours && (/^(23|P0)/.test(said.code) || said.where !== undefined)) return 'users'
  return 'other'
}

function plain(text: string): Statement {
  return { text, params: [] }
}
