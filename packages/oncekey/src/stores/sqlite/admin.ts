/** What operators do to the records of a file: look, settle, forget, erase, sweep, restore, each change audited in its own transaction. */

import { tell } from '../../core/events.ts'
import { writeLabel } from '../../core/label.ts'
import { identifyKey } from '../../core/operation.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Admin, Audit } from '../../core/store.ts'
import type { Row } from '../database/database.ts'
import { type RecordRow, recordFrom, standingFrom } from '../row.ts'
import type { SqliteFile, Writer } from './file.ts'
import { metaFrom } from './schema.ts'
import { audit as auditIn } from './statements/audit.ts'
import { counts as countsOf } from './statements/counts.ts'
import { erase as eraseIn } from './statements/erase.ts'
import { forget as forgetIn } from './statements/forget.ts'
import { page as pageOf, STATES } from './statements/page.ts'
import { read as readOf } from './statements/read.ts'
import { beginEpoch, endRestored, holdAll, noteReconciled, noteRestored } from './statements/restore.ts'
import { settle as settleIn } from './statements/settle.ts'
import { sweeps } from './sweep.ts'

export interface AdminOptions {
  readonly mode: 'transaction' | 'lease'
  /** How long an answer is kept that an operator gives, and how much longer its tombstone. */
  readonly retainMs: number
  readonly tombstoneMs?: number | undefined
}

/** A look at the list asks for so many at a time, so that no read lasts long. */
const PAGE = 100

export function sqliteAdmin<Tx>(file: SqliteFile<Tx>, { mode, ...kept }: AdminOptions): Admin {
  const { record, audit } = file.tables
  const read = readOf(record)
  const page = pageOf(record)
  const settle = settleIn(record)
  const forget = forgetIn(record)
  const note = auditIn(audit)
  const counts = countsOf(record)
  const sweep = sweeps(file, mode)
  const erase = eraseIn(record)
  const restore = {
    note: noteRestored(file.tables),
    hold: holdAll(file.tables),
    begin: beginEpoch(file.tables),
    end: endRestored(file.tables),
    noteEnd: noteReconciled(file.tables),
  }

  function shown(found: unknown): KeyRecord | undefined {
    return standingFrom(found as RecordRow | undefined)
  }

  /** The change, if the record still is as it was seen, and who made it and why, or neither. */
  async function change(
    seen: KeyRecord,
    by: Audit,
    action: string,
    make: (writer: Writer<Tx>) => number,
  ): Promise<'done' | KeyRecord | undefined> {
    return file.write(async function settling(writer) {
      const before = shown(writer.get(read(seen.id)))
      if (make(writer) === 0) return before
      const label =
        action !== 'erase' && before?.scope && before.key !== undefined
          ? writeLabel({ scope: before.scope, key: before.key })
          : null
      writer.run(note({ seen, action, label, who: by.who, why: by.why }))
      await writer.commit()
      tell('settled', { store: 'sqlite', mode, id: seen.id, why: action })
      return 'done' as const
    })
  }

  return {
    migrate: () => file.migrate(),
    sweep,
    async find(what) {
      const id = 'id' in what ? what.id : identifyKey(what).id
      return shown(await file.read(read(id)))
    },
    async *list({ state, after = '', limit = 100 } = {}) {
      let last = after
      for (let left = limit; left > 0; ) {
        const rows = (await file.list(page(last, Math.min(PAGE, left), state))) as unknown as RecordRow[]
        for (const row of rows) {
          const found = recordFrom(row)
          last = found.id
          left -= 1
          yield found
        }
        if (rows.length < Math.min(PAGE, left + rows.length)) return
      }
    },
    settle: (seen, as, by) => change(seen, by, as.kind, (writer) => writer.run(settle(seen, as, kept))),
    forget: (seen, { force = false, ...by }) => change(seen, by, 'forget', (writer) => writer.run(forget(seen, force))),
    async erase(seen, by) {
      if (seen.state !== 'finished') return shown(await file.read(read(seen.id)))
      return change(seen, by, 'erase', (writer) => writer.run(erase(seen)))
    },
    restored: ({ onEpochChange, ...by }) =>
      file.write(async function beginAnew(writer) {
        writer.run(restore.note(by))
        const unknown = writer.run(restore.hold)
        const meta = writer.get(restore.begin(onEpochChange)) as Row
        await writer.commit()
        file.adopt(metaFrom(meta))
        return { unknown }
      }),
    async reconciled(by) {
      await file.check()
      await file.write(async function goOn(writer) {
        if (writer.run(restore.end) === 0) return
        writer.run(restore.noteEnd(by))
        await writer.commit()
      })
      await file.check()
    },
    async stats() {
      const found = { running: 0, open: 0, finished: 0, unknown: 0 }
      for (const { state, count } of await file.list(counts)) {
        const name = (Object.keys(STATES) as KeyRecord['state'][]).find((name) => STATES[name].includes(Number(state)))
        found[name ?? 'finished'] += Number(count)
      }
      return found
    },
  }
}
