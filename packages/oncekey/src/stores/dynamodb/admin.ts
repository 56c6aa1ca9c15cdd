/** What people do to the records in DynamoDB: look, settle, erase, forget, restore; each change with its audit, in one transaction. */
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { readLabel } from '../../core/label.ts'
import { identifyKey } from '../../core/operation.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Admin, Audit, Settlement } from '../../core/store.ts'
import { writeKept } from '../kept.ts'
import { STATE } from '../row.ts'
import { type Noted, noteOf } from './audit.ts'
import { erased, opened, over, settled, unknown } from './changes.ts'
import { asSeen, type Change, update } from './expressions.ts'
import { type Instant, isOver, isRunning, recordFrom, type Stored } from './item.ts'
import type { Meta } from './meta.ts'
import { migrate } from './migrate.ts'
import { cancelledBy } from './refusals.ts'
import { records } from './scan.ts'
import { createSweeper } from './sweeper.ts'
import { change, type Ground, read } from './table.ts'

export interface AdminOptions {
  readonly meta: Meta
  /** How long a record is kept that somebody settles here and now, in milliseconds. */
  readonly retainMs: number
}

/** A change that others get in the way of is tried so many times; each time it is compared anew with what its author saw. */
const TRIES = 5

export function dynamoAdmin(ground: Ground, { meta, retainMs }: AdminOptions): Admin {
  function shown(stored: Stored | undefined): KeyRecord | undefined {
    const instant = ground.at()
    return stored && !isOver(stored, instant) ? recordFrom(stored, instant) : undefined
  }

  /** Makes the change that `to` finds for the record, where it still is as it was seen. */
  async function alter(
    seen: KeyRecord,
    audit: Audit,
    what: Noted['what'],
    to: (stored: Stored, instant: Instant) => TransactWriteItem | undefined,
  ): Promise<'done' | KeyRecord | undefined> {
    await meta.start()
    for (let tries = 1; ; tries++) {
      const stored = await read(ground, seen.id)
      const record = shown(stored)
      const write = stored && isAs(seen, record) ? to(stored, ground.at()) : undefined
      if (!write || !record) return record
      const note = noteOf(ground, { what, id: seen.id, was: record.state }, audit)
      try {
        await ground.call('TransactWriteItems', { TransactItems: [write, note] })
        tell('settled', { store: 'dynamodb', mode: 'lease', id: seen.id, why: what })
        return 'done'
      } catch (error) {
        if (!cancelledBy(error) || tries === TRIES) throw error
      }
    }
  }

  function changing(stored: Stored, next: Change): TransactWriteItem {
    return { Update: update(ground.table, stored.id, next, asSeen(stored)) }
  }
  /** S3: over for everybody from now on, and its fence stays until nobody's clock can fall behind it. */
  function removing(stored: Stored, instant: Instant): TransactWriteItem {
    return changing(stored, unowned(over(instant, stored.fence)))
  }
  function settling(stored: Stored, as: Settlement, instant: Instant): TransactWriteItem {
    switch (as.kind) {
      case 'finished':
        return changing(stored, settled(writeKept(as), retainMs, instant))
      case 'free':
        return removing(stored, instant)
      case 'retry':
        return changing(stored, unowned(opened(retainMs, stored.dedupesUntil, instant)))
      default:
        throw as satisfies never
    }
  }

  return {
    migrate: () => migrate(ground, meta),
    sweep: createSweeper(ground, meta),
    async find(what) {
      await meta.start()
      return shown(await read(ground, 'id' in what ? checked(what.id) : identifyKey(what).id))
    },
    async *list({ state, after = '', limit = 100 } = {}) {
      await meta.start()
      yield* await firstOf(ground, { after: after === '' ? after : checked(after), limit, shown: ofState(state) })
    },
    settle: (seen, as, audit) =>
      alter(seen, audit, as.kind, (stored, instant) =>
        stored.state === STATE.unknown || stored.state === STATE.open ? settling(stored, as, instant) : undefined,
      ),
    forget: (seen, { force = false, ...audit }) =>
      alter(seen, audit, 'forget', (stored, instant) =>
        !force && (isRunning(stored) || stored.state === STATE.unknown) ? undefined : removing(stored, instant),
      ),
    erase: (seen, audit) =>
      alter(seen, audit, 'erase', (stored, instant) =>
        stored.state === STATE.finished ? changing(stored, erased(stored, instant)) : undefined,
      ),
    async restored({ onEpochChange, who, why }) {
      const at = new Date(ground.at().now)
      await meta.start()
      await meta.renew({ at, onEpochChange }, noteOf(ground, { what: 'restored' }, { who, why }))
      return { unknown: await doubt(ground, at) }
    },
    async reconciled(audit) {
      await meta.start()
      await meta.reconcile(noteOf(ground, { what: 'reconciled' }, audit))
    },
    async stats() {
      await meta.start()
      const counts = { running: 0, open: 0, finished: 0, unknown: 0 }
      for await (const stored of records(ground, { consistent: true })) {
        const record = shown(stored)
        if (record) counts[record.state]++
      }
      return counts
    },
  }

  function ofState(state: KeyRecord['state'] | undefined) {
    return (stored: Stored) => {
      const record = shown(stored)
      return state === undefined || record?.state === state ? record : undefined
    }
  }
}

/** Whoever had it has it no longer: its token is gone, and none of its writes is taken. */
function unowned({ set, remove = [] }: Change): Change {
  return { set, remove: [...remove, 't'] }
}

/** The state and fence that its author saw, and the same answer. */
function isAs(seen: KeyRecord, now: KeyRecord | undefined): boolean {
  return seen.state === now?.state && seen.fence === now.fence && seen.expiresAt?.getTime() === now.expiresAt?.getTime()
}

interface Wanted {
  readonly after: string
  readonly limit: number
  readonly shown: (stored: Stored) => KeyRecord | undefined
}

/** In the order of ids. A table has none, so that each page of a list reads all of it and keeps the smallest. */
async function firstOf(ground: Ground, { after, limit, shown }: Wanted): Promise<readonly KeyRecord[]> {
  let kept: KeyRecord[] = []
  const smallest = () => kept.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit)
  for await (const stored of records(ground, { consistent: true })) {
    const record = stored.id > after ? shown(stored) : undefined
    if (!record) continue
    kept.push(record)
    if (kept.length >= 2 * limit + 100) kept = smallest()
  }
  return smallest()
}

/**
 * Running and open records from before the restore become unknown, also those of a caller whose clock is ahead; their
 * owners, if they still live, may yet finish them.
 */
async function doubt(ground: Ground, restoredAt: Date): Promise<number> {
  const until = BigInt(Math.ceil(restoredAt.getTime() + 1 + ground.at().skewMs)) * 1_000n
  let count = 0
  for await (const found of records(ground, { consistent: true })) {
    let stored: Stored | undefined = found
    while (stored && isDoubtful(stored, until, ground.at())) {
      const next = unknown(readLabel(stored.body), 'the store was restored')
      const written = await change(ground, stored.id, next, asSeen(stored))
      if (written === 'done') count++
      stored = written === 'done' ? undefined : written.stored
    }
  }
  return count
}

function isDoubtful(stored: Stored, until: bigint, instant: Instant): boolean {
  const started = isRunning(stored) || stored.state === STATE.open
  return started && !isOver(stored, instant) && (stored.fence === undefined || stored.fence <= until)
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
