/** What people and timers do to the records in Redis: look, settle, forget, erase, sweep, and say that they were restored. */
import { Buffer } from 'node:buffer'
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { writeLabel } from '../../core/label.ts'
import { identifyKey } from '../../core/operation.ts'
import type { KeyRecord, Seen } from '../../core/record.ts'
import type { Admin, Audit } from '../../core/store.ts'
import { writeKept } from '../kept.ts'
import type { Argument, Connection } from './connection.ts'
import { type Parts, standing } from './driver.ts'
import { lister } from './list.ts'
import type { Meta } from './meta.ts'
import { allIds } from './scan.ts'
import type { Script } from './scripts/script.ts'
import { sweeper } from './sweeper.ts'
import { isDone, word } from './word.ts'

export interface AdminParts extends Parts {
  readonly connection: Connection
  readonly meta: Meta
  /** How long a record is kept that somebody settles here and now. */
  readonly retainMs: number
}

export function redisAdmin(parts: AdminParts): Admin {
  const { send, keys, scripts, ready, meta, connection, retainMs } = parts
  const list = lister(parts)

  async function read(id: string): Promise<KeyRecord | undefined> {
    await ready()
    return shown(standing(id, await send(scripts.read, keys.record(id))))
  }

  /** The entry first: where the two lie on two servers, it is the change that may fail to come, and never the entry. */
  async function audited<T>(audit: Audit, what: string, of: KeyRecord | undefined, change: () => Promise<T>) {
    const { who, why } = audit
    const was = of ? ['id', of.id, 'was', of.state] : []
    const fields = ['what', what, ...was, 'who', who, 'why', why].map((text) => Buffer.from(text))
    const [, entry] = await send(scripts.auditEntry, keys.audit, fields)
    const answer = await change()
    return { answer, withdraw: () => send(scripts.auditWithdrawn, keys.audit, [word(entry)]) }
  }

  async function change(script: Script, seen: KeyRecord, what: string, audit: Audit, args: readonly Argument[] = []) {
    await ready()
    const { id, state, fence, expiresAt } = seen
    const ends = state === 'finished' && expiresAt ? String(expiresAt.getTime()) : ''
    const as = [state, fence === undefined ? '' : String(fence), ends, ...args]
    const { answer, withdraw } = await audited(audit, what, seen, () => send(script, keys.record(id), as))
    if (!isDone(answer)) {
      await withdraw()
      return shown(standing(id, answer))
    }
    tell('settled', { store: 'redis', mode: 'lease', id, why: what })
    return 'done' as const
  }

  return {
    migrate: () => meta.create(),
    sweep: sweeper({ ...parts, check: meta.again }),
    find: async (what) => read('id' in what ? checked(what.id) : identifyKey(what).id),
    list: (filter) => list.records(filter?.after === undefined ? filter : { ...filter, after: checked(filter.after) }),
    stats: () => list.stats(),
    async settle(seen, as, audit) {
      if (seen.state !== 'unknown' && seen.state !== 'open') return read(seen.id)
      switch (as.kind) {
        case 'finished': {
          const body = Buffer.from(writeKept(as))
          return change(scripts.settleFinished, seen, as.kind, audit, [String(retainMs), body])
        }
        case 'free':
          return change(scripts.settleFree, seen, as.kind, audit)
        case 'retry':
          return change(scripts.settleRetry, seen, as.kind, audit)
        default:
          throw as satisfies never
      }
    },
    async forget(seen, { force = false, ...audit }) {
      if (!force && (seen.state === 'running' || seen.state === 'unknown')) return read(seen.id)
      return change(scripts.forget, seen, 'forget', audit)
    },
    async erase(seen, audit) {
      if (seen.state !== 'finished') return read(seen.id)
      return change(scripts.erase, seen, 'erase', audit, [Buffer.from(writeLabel({ why: 'erased' }))])
    },
    async restored({ onEpochChange, ...audit }) {
      // Whichever epoch this process knew: it ends here.
      meta.enter(undefined)
      await meta.create()
      const epoch = randomHex(16)
      await audited(audit, 'restored', undefined, () => send(scripts.metaRestored, keys.meta, [epoch, onEpochChange]))
      meta.enter(epoch)
      await meta.again()
      let unknown = 0
      for await (const ids of allIds(connection, keys)) {
        const why = 'the store was restored'
        const done = await Promise.all(ids.map((id) => send(scripts.restore, keys.record(id), [why])))
        unknown += done.filter(isDone).length
      }
      return { unknown }
    },
    async reconciled(audit) {
      await ready()
      await audited(audit, 'reconciled', undefined, () => send(scripts.metaReconciled, keys.meta))
      await meta.again()
    },
  }
}

/** A record past its end is absent, whether it is still there or not. */
function shown(seen: Seen): KeyRecord | undefined {
  return seen.kind === 'absent' || seen.over ? undefined : seen.record
}

function checked(id: string): string {
  const digits = id.replaceAll('-', '').toLowerCase()
  if (/^[0-9a-f]{32}$/.test(digits)) return digits
  throw new OncekeyError('INVALID_OPTION', {
    what: 'This is not the id of a record.',
    where: 'admin',
    why: 'Another id would find another record, or none.',
    fix: 'Give the 32 hex digits that lists and events show, or scope and key.',
  })
}
