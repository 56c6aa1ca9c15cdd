/** What people do to the records in memory by hand: look, settle, forget, sweep, each change with its audit. */
import { sleep } from '../../core/clock.ts'
import { tell } from '../../core/events.ts'
import { identifyKey } from '../../core/operation.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Admin, Audit, Restored } from '../../core/store.ts'
import { gone, isOver, opened, type Row, recordOf, type Table, unknown } from './table.ts'

export interface AuditEntry extends Audit {
  readonly at: Date
  /** Of the record; nothing where it was about all of them. */
  readonly id?: string
  readonly what: 'finished' | 'free' | 'retry' | 'forget' | 'erase' | 'restored' | 'reconciled'
  readonly was?: KeyRecord['state']
}

/** Older entries make room: the audit of a process in memory ends with it anyway. */
const MAX_AUDIT_ENTRIES = 10_000

export interface MemoryAdmin extends Admin {
  last(): Promise<Restored | undefined>
}

export function createAdmin(table: Table, audit: AuditEntry[], retainMs: number): MemoryAdmin {
  const { rows, now } = table
  let sweeping = false
  let restored: Restored | undefined

  /** The row, where it still is what its reader saw. */
  function asSeen(seen: KeyRecord): Row | undefined {
    const row = current(seen.id)
    return row && row.state === seen.state && row.fence === seen.fence ? row : undefined
  }
  function current(id: string): Row | undefined {
    const row = rows.get(id)
    return row && !isOver(row, now()) ? row : undefined
  }
  function shown(id: string): KeyRecord | undefined {
    const row = current(id)
    return row && recordOf(row, now())
  }
  function enter(entry: Omit<AuditEntry, 'at'>): void {
    audit.push({ at: new Date(now()), ...entry })
    if (audit.length > MAX_AUDIT_ENTRIES) audit.shift()
  }
  function note(row: Row, what: AuditEntry['what'], { who, why }: Audit): 'done' {
    enter({ id: row.id, what, was: row.state, who, why })
    tell('settled', { store: 'memory', mode: 'lease', id: row.id, why: what })
    return 'done'
  }

  return {
    async migrate() {},
    async sweep({ batch = 10_000, pauseMs = 20, limit = Infinity, signal } = {}) {
      const total = { removed: 0, expired: 0, abandoned: 0, complete: false }
      if (sweeping) return { ...total, elsewhere: true }
      sweeping = true
      try {
        for (let looked = 0; looked < limit && !signal?.aborted; ) {
          const swept = table.sweep(Math.min(batch, limit - looked))
          const { removed, expired, abandoned } = swept
          looked += swept.looked
          total.removed += removed
          total.expired += expired
          total.abandoned += abandoned
          total.complete = swept.complete
          tell('swept', { store: 'memory', mode: 'lease', removed, expired, abandoned })
          if (swept.complete) break
          await sleep(pauseMs, signal)
        }
        return total
      } finally {
        sweeping = false
      }
    },
    async find(what) {
      return shown('id' in what ? what.id : identifyKey(what).id)
    },
    async *list({ state, after = '', limit = 100 } = {}) {
      const ids = [...rows.keys()].filter((id) => id > after).sort()
      let given = 0
      for (const id of ids) {
        const record = shown(id)
        if (!record || (state !== undefined && record.state !== state)) continue
        if (given++ >= limit) return
        yield record
      }
    },
    async settle(seen, as, by) {
      const row = asSeen(seen)
      if (!row || (row.state !== 'unknown' && row.state !== 'open')) return shown(seen.id)
      const { token: _token, ...rest } = row
      switch (as.kind) {
        case 'finished': {
          const { id, print } = row
          const expires = now() + retainMs
          rows.set(id, { id, print, state: 'finished', receipt: as.receipt.slice(), expires, retainMs })
          break
        }
        case 'free':
          table.remove(rest)
          break
        case 'retry':
          rows.set(row.id, opened(rest, now()))
          break
        default:
          throw as satisfies never
      }
      return note(row, as.kind, by)
    },
    async forget(seen, { force = false, ...by }) {
      const row = asSeen(seen)
      if (!row || (!force && (row.state === 'running' || row.state === 'unknown'))) return shown(seen.id)
      const { token: _token, ...rest } = row
      table.remove(rest)
      return note(row, 'forget', by)
    },
    async erase(seen, by) {
      const row = asSeen(seen)
      if (row?.state !== 'finished' || !row.receipt) return shown(seen.id)
      rows.set(row.id, gone(row, 'erased'))
      return note(row, 'erase', by)
    },
    async restored({ onEpochChange, who, why }) {
      const at = new Date(now())
      let count = 0
      for (const row of rows.values()) {
        if (isOver(row, now()) || (row.state !== 'running' && row.state !== 'open')) continue
        rows.set(row.id, unknown(row, 'the store was restored'))
        count++
      }
      restored = { at, onEpochChange }
      enter({ what: 'restored', who, why })
      return { unknown: count }
    },
    async reconciled({ who, why }) {
      restored = undefined
      enter({ what: 'reconciled', who, why })
    },
    last: async () => restored,
    async stats() {
      const counts = { running: 0, open: 0, finished: 0, unknown: 0 }
      const at = now()
      for (const row of rows.values()) if (!isOver(row, at)) counts[row.state]++
      return counts
    },
  }
}
