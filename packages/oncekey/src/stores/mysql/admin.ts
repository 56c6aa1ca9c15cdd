/** What people and timers do to the records in MySQL: look, settle, forget, erase, sweep, restore; the same for both modes. */
import { randomBytes } from 'node:crypto'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { writeLabel } from '../../core/label.ts'
import { identifyKey } from '../../core/operation.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Admin, Audit } from '../../core/store.ts'
import type { Database, Statement } from '../database/database.ts'
import { writeKept } from '../kept.ts'
import { digits, type RecordRow, recordFrom, STATE, standingFrom } from '../row.ts'
import { migrate } from './migrate.ts'
import { namesWith } from './names.ts'
import type { SchemaGuard } from './schema-guard.ts'
import {
  type Action,
  erase,
  type KeptFor,
  note,
  remove,
  settleFinished,
  settleRetry,
} from './statements/admin/change.ts'
import { find, findLocked, list, stats } from './statements/admin/read.ts'
import { atStake, newEpoch, reconciled, unknowing } from './statements/admin/restored.ts'
import { createSweeper } from './sweeper.ts'
import { untilDecided } from './until-decided.ts'

export interface AdminOptions extends KeptFor {
  readonly prefix: string
  /** Refuses tables that this build must not touch (I4), and learns what is changed here. */
  readonly guard: SchemaGuard
}

/** More than a screen shows; below it a page is one flight. */
const PAGE = 1_000

export function mysqlAdmin<Tx>(database: Database<Tx>, options: AdminOptions): Admin {
  const { prefix, guard, retainMs } = options
  const names = namesWith(prefix)

  /** `make` gives nothing where it cannot be done to that record. */
  function change(seen: KeyRecord, action: Action, by: Audit, make: (row: RecordRow) => Statement | undefined) {
    const { id } = seen
    return untilDecided<Changed>(id, () =>
      database.transaction<Changed>([findLocked(names, id)], async function compare(_tx, [found]) {
        const row = found?.[0] as RecordRow | undefined
        const standing = standingFrom(row)
        const statement = row && standing && isAsSeen(seen, standing) ? make(row) : undefined
        if (!statement) return { rollback: true, value: standing ?? { absent: true }, settled: true }
        return { commit: [note(names, action, by, id), statement], value: 'done' }
      }),
    ).then((told) => {
      if (told === 'done') tell('settled', { store: 'mysql', id, why: action })
      return typeof told === 'object' && 'absent' in told ? undefined : told
    })
  }

  async function current(id: string): Promise<KeyRecord | undefined> {
    const [row] = await database.query(find(names, id))
    return standingFrom(row as RecordRow | undefined)
  }

  return {
    migrate: () => migrate(database, { prefix }),
    sweep: createSweeper(database, { names, check: guard.again }),
    async find(what) {
      return current('id' in what ? checked(what.id) : identifyKey(what).id)
    },
    async *list({ state, after, limit = 100 } = {}) {
      let last = after === undefined ? undefined : checked(after)
      for (let left = limit; left > 0; ) {
        const wanted = Math.min(left, PAGE)
        const rows = await database.query(list(names, { state, after: last, limit: wanted }))
        for (const row of rows) yield recordFrom(row as unknown as RecordRow)
        if (rows.length < wanted) return
        left -= rows.length
        last = digits(rows.at(-1)?.k as string)
      }
    },
    async settle(seen, as, audit) {
      if (seen.state !== 'unknown' && seen.state !== 'open') return current(seen.id)
      switch (as.kind) {
        case 'finished': {
          const body = writeKept({ receipt: as.receipt }, options.tombstoneMs !== undefined)
          return change(seen, as.kind, audit, () => settleFinished(names, seen.id, body, options))
        }
        case 'free':
          return change(seen, as.kind, audit, (row) => remove(names, row))
        case 'retry':
          return change(seen, as.kind, audit, () => settleRetry(names, seen.id, retainMs))
        default:
          throw as satisfies never
      }
    },
    async forget(seen, { force = false, ...audit }) {
      if (!force && (seen.state === 'running' || seen.state === 'unknown')) return current(seen.id)
      return change(seen, 'forget', audit, (row) => remove(names, row))
    },
    async erase(seen, audit) {
      if (seen.state !== 'finished') return current(seen.id)
      const label = writeLabel({ why: 'erased' })
      return change(seen, 'erase', audit, (row) =>
        Number(row.state) === STATE.finished ? erase(names, seen.id, label) : undefined,
      )
    },
    async restored({ onEpochChange, ...audit }) {
      const epoch = randomBytes(16).toString('hex')
      await database.transaction<void>([], async () => ({
        commit: [newEpoch(names, epoch, onEpochChange), note(names, 'restored', audit)],
        value: undefined,
      }))
      guard.learn({ epoch })
      await guard.again()
      return { unknown: await unknowAll() }
    },
    async reconciled(audit) {
      await database.transaction<void>([], async () => ({
        commit: [reconciled(names), note(names, 'reconciled', audit)],
        value: undefined,
      }))
      await guard.again()
    },
    async stats() {
      const counts = { running: 0, open: 0, finished: 0, unknown: 0 }
      for (const { state, count } of await database.query(stats(names))) counts[wordFor(state)] += Number(count)
      return counts
    },
  }

  async function unknowAll(): Promise<number> {
    const before = `${guard.restored()?.at.getTime() ?? 0}999`
    let after = '0'.repeat(32)
    for (let unknown = 0; ; ) {
      const ids = await database.transaction(
        [atStake(names, after, PAGE, before)],
        async function page(_tx, [rows = []]) {
          const found = rows.map(({ k }) => String(k))
          return { commit: found.length === 0 ? [] : [unknowing(names, found)], value: found }
        },
      )
      unknown += ids.length
      after = ids.at(-1) ?? after
      if (ids.length < PAGE) return unknown
    }
  }
}

type Changed = 'done' | KeyRecord | { readonly absent: true }

/** Finished records have no fence; their end tells one from the next. */
function isAsSeen(seen: KeyRecord, now: KeyRecord): boolean {
  if (now.state !== seen.state || now.fence !== seen.fence) return false
  if (seen.state !== 'finished' || seen.expiresAt === undefined) return true
  return now.expiresAt?.getTime() === seen.expiresAt.getTime()
}

function wordFor(state: unknown): KeyRecord['state'] {
  switch (Number(state)) {
    case STATE.takeover:
    case STATE.hold:
      return 'running'
    case STATE.open:
      return 'open'
    case STATE.unknown:
      return 'unknown'
    default:
      return 'finished'
  }
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
