/** What people and timers do to the records in PostgreSQL: look, settle, forget, erase, sweep, restore; the same for both modes. */
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { identifyKey } from '../../core/operation.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Admin } from '../../core/store.ts'
import type { Database, Row, Statement } from '../database/database.ts'
import { digits, type RecordRow, recordFrom, standingFrom } from '../row.ts'
import { restoredFrom } from './check-schema.ts'
import { migrate } from './migrate.ts'
import { namesIn } from './names.ts'
import { type SchemaGuard, schemaGuard } from './schema-guard.ts'
import { erase } from './statements/admin/erase.ts'
import { find } from './statements/admin/find.ts'
import { forget } from './statements/admin/forget.ts'
import { list } from './statements/admin/list.ts'
import { reconcile } from './statements/admin/reconcile.ts'
import { restore } from './statements/admin/restore.ts'
import { settleFinished } from './statements/admin/settle-finished.ts'
import { settleFree } from './statements/admin/settle-free.ts'
import { settleRetry } from './statements/admin/settle-retry.ts'
import { stats } from './statements/admin/stats.ts'
import { createSweeper } from './sweeper.ts'
import { untilDecided } from './until-decided.ts'

export interface AdminOptions {
  readonly schema: string
  /** How long a record is kept that somebody settles here and now, and how much longer its tombstone, in milliseconds. */
  readonly retainMs: number
  readonly tombstoneMs?: number | undefined
  /** Refuses a schema that this build must not touch (I4); asked before every sweep. */
  readonly guard?: SchemaGuard
}

/** More than a screen shows; below it a page is one flight. */
const PAGE = 1_000

export function postgresAdmin<Tx>(database: Database<Tx>, options: AdminOptions): Admin {
  const { schema, retainMs, tombstoneMs, guard = schemaGuard(database, schema) } = options
  const names = namesIn(schema)
  const statements = {
    find: find(names),
    forget: forget(names),
    erase: erase(names),
    restore: restore(names),
    reconcile: reconcile(names),
    list: list(names),
    finished: settleFinished(names),
    free: settleFree(names),
    retry: settleRetry(names),
  }

  async function change(id: string, why: string, statement: Statement): Promise<'done' | KeyRecord | undefined> {
    const changed = await untilDecided(id, async function send() {
      const [row] = await database.query(statement)
      if (row?.done) return { now: 'done' as const }
      return row?.as_seen ? undefined : { now: shown(row) }
    })
    if (changed.now === 'done') tell('settled', { store: 'postgres', id, why })
    return changed.now
  }

  async function current(id: string): Promise<KeyRecord | undefined> {
    const [row] = await database.query(statements.find(id))
    return shown(row)
  }

  return {
    migrate: () => migrate(database, { schema }),
    sweep: createSweeper(database, { names, check: guard.again }),
    async find(what) {
      return current('id' in what ? checked(what.id) : identifyKey(what).id)
    },
    async *list({ state, after, limit = 100 } = {}) {
      let last = after === undefined ? undefined : checked(after)
      for (let left = limit; left > 0; ) {
        const wanted = Math.min(left, PAGE)
        const rows = await database.query(statements.list({ state, after: last, limit: wanted }))
        for (const row of rows) yield recordFrom(row as unknown as RecordRow)
        if (rows.length < wanted) return
        left -= rows.length
        last = digits(rows.at(-1)?.k as string)
      }
    },
    async settle(seen, as, audit) {
      if (seen.state !== 'unknown' && seen.state !== 'open') return current(seen.id)
      switch (as.kind) {
        case 'finished':
          return change(seen.id, as.kind, statements.finished(seen, as.receipt, audit, { retainMs, tombstoneMs }))
        case 'free':
          return change(seen.id, as.kind, statements.free(seen, audit))
        case 'retry':
          return change(seen.id, as.kind, statements.retry(seen, audit, retainMs))
        default:
          throw as satisfies never
      }
    },
    async forget(seen, { force = false, ...audit }) {
      if (!force && (seen.state === 'running' || seen.state === 'unknown')) return current(seen.id)
      return change(seen.id, 'forget', statements.forget(seen, audit))
    },
    async erase(seen, audit) {
      if (seen.state !== 'finished') return current(seen.id)
      return change(seen.id, 'erase', statements.erase(seen, audit))
    },
    async restored(how) {
      const row = await untilDecided('', async function begin() {
        const [row] = await database.query(statements.restore(how))
        return row
      })
      guard.adopt({ epoch: String(row.epoch), restored: restoredFrom(row) })
      return { unknown: Number(row.unknown) }
    },
    async reconciled(audit) {
      await guard.again()
      await database.query(statements.reconcile(audit))
      await guard.again()
    },
    async stats() {
      const counts = { running: 0, open: 0, finished: 0, unknown: 0 }
      for (const { state, count } of await database.query(stats(names))) counts[wordFor(state)] += Number(count)
      return counts
    },
  }
}

/** A record past its end is absent, whether it is still there or not. */
function shown(row: Row | undefined): KeyRecord | undefined {
  return row === undefined || row.k === null ? undefined : standingFrom(row as unknown as RecordRow)
}

function wordFor(state: unknown): KeyRecord['state'] {
  const words: readonly (KeyRecord['state'] | undefined)[] = [
    undefined,
    'running',
    'running',
    'open',
    'finished',
    'finished',
    'unknown',
  ]
  return words[Number(state)] ?? 'finished'
}

function checked(id: string): string {
  if (/^[0-9a-f]{32}$/i.test(digits(id))) return digits(id)
  throw new OncekeyError('INVALID_OPTION', {
    what: 'This is not the id of a record.',
    where: 'admin',
    why: 'Another id would find another record, or none.',
    fix: 'Give the 32 hex digits that lists and events show, or scope and key.',
  })
}
