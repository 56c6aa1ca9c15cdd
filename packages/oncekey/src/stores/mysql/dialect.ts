/** MySQL's and MariaDB's half of transaction mode. */
import { randomBytes } from 'node:crypto'
import type { Statement } from '../database/database.ts'
import { mysqlError } from '../database/mysql-error.ts'
import { type RecordRow, seenFrom } from '../row.ts'
import type { Dialect, Failure } from '../transactional/dialect.ts'
import { namesWith } from './names.ts'
import type { SchemaGuard } from './schema-guard.ts'
import { holder, holderApart } from './statements/holder.ts'
import { idleLimit } from './statements/idle-limit.ts'
import { look, lookLocked } from './statements/look.ts'
import { probe, tryLocks } from './statements/try-locks.ts'
import { writeUnknown } from './statements/write-unknown.ts'
import { written } from './statements/written.ts'

/**
 * The savepoint stands between the opening and the work, and proves in the last flight that this is still the
 * transaction that was opened (T3): a COMMIT of the work's own, an implicit one (`create table`) and a deadlock that the
 * work has swallowed (1213 rolls everything back, and what follows commits by itself) all take it away.
 */
const SAVEPOINT = 'oncekey_work'

export function mysqlDialect(prefix: string, guard: Pick<SchemaGuard, 'mariadb' | 'start'>): Dialect {
  const names = namesWith(prefix)

  return {
    name: 'mysql',
    holderIsExact: true,
    provenBySavepoint: true,
    check: () => guard.start(),
    opening({ identity, workMs, savepoint }) {
      const token = randomBytes(16).toString('hex')
      return [
        // Joining a caller's transaction: there has to be one, and its limits are the caller's.
        ...(workMs === undefined ? [plain('rollback to savepoint oncekey_within')] : []),
        ...(workMs !== undefined && guard.mariadb ? [idleLimit(workMs)] : []),
        ...(guard.mariadb ? [] : [probe(names, identity.id)]),
        tryLocks(names, identity, token, guard.mariadb),
        lookLocked(names, identity.id, token),
        ...(savepoint ? [plain(`savepoint ${SAVEPOINT}`)] : []),
      ]
    },
    read(answers) {
      const found = answers.flat().find((row) => row.opened !== undefined)
      if (!found) throw new TypeError('the opening was not answered')
      const row = isTrue(found.fresh) ? undefined : (found as unknown as RecordRow)
      return {
        // Refused, it would have been an error (`locked`).
        lock: 'mine',
        opened: String(found.opened),
        // What decides here are locking reads, which see what is committed last at every level.
        isolation: 'read committed',
        // A server that is read only has refused the insert; this is one that makes an exception for us (T14).
        writable: isTrue(found.on_primary),
        row,
        seen: seenFrom(row),
      }
    },
    look: (id) => look(names, id),
    readLook([row]) {
      return { primary: row === undefined || isTrue(row.on_primary), seen: seenFrom(row as RecordRow | undefined) }
    },
    holder: (identity) => (guard.mariadb ? holder : holderApart)(names, identity),
    readHolder([row]) {
      if (row === undefined || !isTrue(row.at_work)) return 'nobody'
      return isTrue(row.same) ? 'same' : 'other'
    },
    insert: (wanted) => written(names, wanted),
    replace: (wanted) => written(names, wanted),
    writeUnknown: (abandoned) => writeUnknown(names, abandoned),
    restore: [plain(`release savepoint ${SAVEPOINT}`)],
    undo: plain(`rollback to savepoint ${SAVEPOINT}`),
    failure,
    within: {
      begin: plain('savepoint oncekey_within'),
      undo: [plain('rollback to savepoint oncekey_within'), plain('release savepoint oncekey_within')],
      end: plain('release savepoint oncekey_within'),
      savepoint: plain(`savepoint ${SAVEPOINT}`),
      undoWork: plain(`rollback to savepoint ${SAVEPOINT}`),
      // A failed statement leaves a transaction whole here, and after ROLLBACK each statement would commit by itself.
      poison: plain('kill connection_id()'),
    },
  }
}

function failure(error: unknown): Failure {
  const said = mysqlError(error)
  switch (said?.errno) {
    // Lock wait timeout, which is at once here; deadlock; MySQL's word for NOWAIT.
    case 1205:
    case 1213:
    case 3572:
      return 'locked'
    // The savepoint is gone with the transaction that it was in.
    case 1305:
      return 'no-transaction'
    default:
      return 'other'
  }
}

/** `1`, `1n`, `'1'` or `true`, as a pool is set up. */
function isTrue(value: unknown): boolean {
  return value === true || Number(value) === 1
}

function plain(text: string): Statement {
  return { text, params: [] }
}
