/** Brings the tables to this build's version: by the operator's word, never by surprise. */
import { OncekeyError } from '../../core/errors.ts'
import type { Database, Row } from '../database/database.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { namesWith } from './names.ts'
import { NOW } from './statements/columns.ts'

/** Longer than a migration of these tables takes; whoever waits in vain says so. */
const WAIT_SECONDS = 30

export interface MigrateOptions {
  readonly prefix: string
  /** For tests of what a later release would do. */
  readonly steps?: readonly Migration[]
}

/**
 * Safe to call from several processes at once, and while the release before this one is at work. MySQL commits each
 * change of a table by itself, which lets go of every row: so here, and only here, the lock is a named one. It is the
 * session's, is given back by hand, and ends with a process that dies; what that had done is done again without harm.
 */
export async function migrate<Tx>(database: Database<Tx>, options: MigrateOptions): Promise<void> {
  const { prefix, steps = migrations } = options
  const names = namesWith(prefix)
  const name = `concat('oncekey ', md5(concat(database(), '/${prefix}')))`
  const lock = { text: `select get_lock(${name}, ${WAIT_SECONDS}) as locked`, params: [] }

  await database.transaction<void>([lock], async function bringUp(tx, [locked]) {
    if (Number(locked?.[0]?.locked) !== 1) throw busy(prefix)
    const execute = database.on(tx)
    const run = (text: string): Promise<readonly Row[]> => execute({ text, params: [] })
    try {
      await run(`create table if not exists ${names.migration} (
                   version    int          not null primary key,
                   name       varchar(100) not null,
                   applied_at bigint       not null
                 ) engine = InnoDB default charset = ascii collate = ascii_bin`)
      const done = new Set((await run(`select version from ${names.migration}`)).map((row) => Number(row.version)))
      for (const { version, name: title, statements } of steps) {
        if (done.has(version)) continue
        for (const statement of statements(names)) await run(statement)
        await run(`insert into ${names.migration} (version, name, applied_at) values (${version}, '${title}', ${NOW})`)
      }
    } finally {
      await run(`do release_lock(${name})`)
    }
    return { commit: [], value: undefined }
  })
}

function busy(prefix: string): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: `Another process has been migrating the tables ${prefix}… for ${WAIT_SECONDS} s.`,
    where: 'mysql',
    why: 'Two at once could leave them half changed.',
    fix: 'Find it (`show processlist`), and run the migration again.',
  })
}
