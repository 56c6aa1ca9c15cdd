/** The lease port over a map, to be read as the reference: each method is one step of the protocol's table, done in one tick. */
import type { StorePolicy } from '../../core/policy.ts'
import { judge, type Seen } from '../../core/record.ts'
import type { Held, Kept, LeaseDriver } from '../../core/store.ts'
import { type AuditEntry, createAdmin } from './admin.ts'
import { createTable, isOver, microseconds, opened, type Row, seenAt, type Table, unknown } from './table.ts'

export interface MemoryDriverOptions {
  /** The store's clock, in milliseconds since 1970. */
  readonly clock?: () => number
  /** Default 100,000. */
  readonly maxRecords?: number
  /** What a record settled by hand is kept for. Default 24 h. */
  readonly retainMs?: number
}
export interface MemoryDriver extends LeaseDriver {
  readonly audit: readonly AuditEntry[]
}

/** How often records past their end are removed although nobody claims anything. */
const SWEEP_EVERY_MS = 10_000

export function memoryDriver(options: MemoryDriverOptions = {}): MemoryDriver {
  const { clock = Date.now, maxRecords = 100_000, retainMs = 86_400_000 } = options
  const table = createTable(clock, maxRecords)
  const audit: AuditEntry[] = []
  const admin = createAdmin(table, audit, retainMs)
  const sweeping = sweepNowAndThen(table)
  return {
    name: 'memory',
    ...steps(table),
    audit,
    admin,
    restored: admin.last,
    async [Symbol.asyncDispose]() {
      clearInterval(sweeping)
      table.rows.clear()
    },
  }
}

function steps(table: Table): Pick<LeaseDriver, 'claim' | 'complete' | 'renew' | 'release' | 'hold' | 'read'> {
  const { rows, now } = table

  /** The row, where it is still ours: token and fence are the compare of every compare-and-set. */
  function mine({ id, token, fence }: Held): Row | undefined {
    const row = rows.get(id)
    if (row?.token !== token || row.fence !== fence || row.state === 'finished') return undefined
    return isOver(row, now()) ? undefined : row
  }
  function see(id: string): Seen {
    return seenAt(rows.get(id), now())
  }

  return {
    async claim({ id, token, prints, policy, label }) {
      const at = now()
      table.tidy()
      const row = rows.get(id)
      const judged = judge(seenAt(row, at), prints, token)
      if (judged.kind === 'abandoned' && row) rows.set(id, unknown(row, 'its owner vanished'))
      if (judged.kind === 'own' && row) {
        rows.set(id, running(row, at + policy.leaseMs))
        return { kind: 'won', fence: row.fence ?? 0n }
      }
      if (judged.kind !== 'runnable') return see(id)

      if (!row) table.makeRoom()
      const earlier = row && !isOver(row, at) ? row : undefined
      const fence = greatest((row?.fence ?? 0n) + 1n, microseconds(at))
      const { onAbandoned, retainMs, leaseMs, dedupesForMs } = policy
      // Counted from the first claim, whoever goes on with it (L5).
      const dedupesUntil = earlier?.dedupesUntil ?? (dedupesForMs === undefined ? undefined : at + dedupesForMs)
      rows.set(id, {
        id,
        token,
        fence,
        print: earlier?.print ?? prints[0],
        state: 'running',
        leaseEnd: at + leaseMs,
        onAbandoned,
        retainMs,
        label,
        ...(dedupesUntil === undefined ? {} : { dedupesUntil }),
      })
      return { kind: 'won', fence, takenOver: earlier?.state === 'running', fresh: earlier === undefined }
    },
    async renew(held) {
      const row = mine(held)
      if (!row) return see(held.id)
      rows.set(row.id, running(row, now() + held.policy.leaseMs))
      return 'done'
    },
    async complete(held, kept) {
      const row = mine(held)
      if (!row) return see(held.id)
      rows.set(row.id, finished(row, kept, { at: now(), ...held.policy }))
      return 'done'
    },
    async release(held, to) {
      const row = mine(held)
      if (!row || (to === 'retry' && row.state === 'open')) return see(held.id)
      if (to === 'free') table.remove(row)
      else rows.set(row.id, opened({ ...row, retainMs: held.policy.retainMs }, now()))
      return 'done'
    },
    async hold(held, why) {
      const row = mine(held)
      if (!row) return see(held.id)
      rows.set(row.id, unknown(row, why))
      return 'done'
    },
    async read(id) {
      return see(id)
    },
  }
}

function running({ expires: _expires, why: _why, ...row }: Row, leaseEnd: number): Row {
  return { ...row, state: 'running', leaseEnd }
}

interface Ends extends Pick<StorePolicy, 'retainMs' | 'tombstoneMs'> {
  readonly at: number
}

/** The answer takes the place of what people needed to see; where there is none, they still see it. */
function finished({ id, print, token, retainMs, label }: Row, kept: Kept, ends: Ends): Row {
  const expires = ends.at + ends.retainMs
  const common = { id, print, state: 'finished', retainMs, expires, ...(token === undefined ? {} : { token }) } as const
  if ('receipt' in kept)
    return {
      ...common,
      receipt: kept.receipt.slice(),
      ...(ends.tombstoneMs === undefined ? {} : { tombstoneEnd: expires + ends.tombstoneMs }),
      ...(kept.head ? { head: kept.head.slice() } : {}),
    }
  const { spent, head } = kept
  // There is no answer to outlive: the key is bound for as long as if there were one.
  const bound = expires + (ends.tombstoneMs ?? 0)
  return { ...common, expires: bound, why: spent, ...(label ? { label } : {}), ...(head ? { head: head.slice() } : {}) }
}

function greatest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function sweepNowAndThen(table: Table): NodeJS.Timeout {
  const timer = setInterval(() => table.sweep(Infinity), SWEEP_EVERY_MS)
  timer.unref()
  return timer
}
