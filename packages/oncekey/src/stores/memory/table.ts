/** The records of the store in memory: rows, how a row is seen at an instant, and the bound on how many there are. */
import { OncekeyError } from '../../core/errors.ts'
import type { Label } from '../../core/operation.ts'
import type { FinishedRecord, KeyRecord, Receipt, Seen } from '../../core/record.ts'
import type { GoneWhy } from '../../core/store.ts'

export interface Row {
  readonly id: string
  readonly print: string
  readonly state: KeyRecord['state']
  /** Kept while finished too, so that the lost reply of a complete can be recognised. */
  readonly token?: string
  readonly fence?: bigint
  /** Milliseconds of the store's clock, as are all ends. */
  readonly leaseEnd?: number
  readonly onAbandoned?: 'takeover' | 'hold'
  readonly dedupesUntil?: number
  readonly expires?: number
  /** Where a tombstone is to outlive the answer: its end. Until then the record is there, and after `expires` without its answer. */
  readonly tombstoneEnd?: number
  readonly retainMs: number
  readonly label?: Label
  readonly why?: string
  readonly receipt?: Receipt
  readonly head?: Receipt
}

export interface Table {
  readonly rows: Map<string, Row>
  readonly now: () => number
  /** Makes room for one more, or throws `STORE_UNAVAILABLE`: nothing that is still owed to somebody is dropped. */
  makeRoom(): void
  /** Removes one row, where its fence allows it; else it is over from now on (S3). */
  remove(row: Row): void
  /** Looks at up to `batch` rows from where the last sweep stopped: removes, expires and abandons what is due. */
  sweep(batch: number): SweptRows
  /** A small share of a sweep, which every claim pays. */
  tidy(): void
}

export interface SweptRows {
  readonly removed: number
  readonly expired: number
  readonly abandoned: number
  readonly looked: number
  /** The end of the table was reached; the next sweep begins anew. */
  readonly complete: boolean
}

export function createTable(now: () => number, maxRecords: number): Table {
  const rows = new Map<string, Row>()
  let cursor = rows.values()
  let sweeping = rows.values()

  function removable(row: Row, at: number): boolean {
    return isOver(row, at) && (row.fence === undefined || microseconds(at) > row.fence)
  }

  function sweep(batch: number): SweptRows {
    const at = now()
    const swept = { removed: 0, expired: 0, abandoned: 0, looked: 0, complete: false }
    while (swept.looked < batch) {
      const { value: row, done } = sweeping.next()
      if (done) {
        sweeping = rows.values()
        return { ...swept, complete: true }
      }
      swept.looked++
      if (removable(row, at)) {
        rows.delete(row.id)
        swept.removed++
      } else if (row.receipt && isExpired(row, at)) {
        rows.set(row.id, gone(row, 'expired'))
        swept.expired++
      } else if (row.state === 'running' && at >= (row.leaseEnd ?? 0)) {
        rows.set(row.id, row.onAbandoned === 'takeover' ? opened(row, at) : unknown(row, 'its owner vanished'))
        swept.abandoned++
      }
    }
    return swept
  }

  return {
    rows,
    now,
    makeRoom() {
      if (rows.size < maxRecords) return
      sweeping = rows.values()
      sweep(Infinity)
      if (rows.size >= maxRecords) throw full(maxRecords)
    },
    remove(row) {
      const at = now()
      if (row.fence === undefined || microseconds(at) > row.fence) rows.delete(row.id)
      else rows.set(row.id, { ...row, state: 'open', expires: at })
    },
    sweep,
    tidy() {
      // Two looked at for each one added: the whole table is gone through before it doubles.
      for (let looked = 0; looked < 2; looked++) {
        const { value: row, done } = cursor.next()
        if (done) cursor = rows.values()
        else if (removable(row, now())) rows.delete(row.id)
      }
    },
  }
}

export function isOver({ state, expires, tombstoneEnd = expires }: Row, at: number): boolean {
  return (state === 'finished' || state === 'open') && tombstoneEnd !== undefined && at >= tombstoneEnd
}

/** Past its retention, and not yet past its tombstone's end. */
export function isExpired({ state, expires }: Row, at: number): boolean {
  return state === 'finished' && expires !== undefined && at >= expires
}

/** A finished record whose answer is there no longer, bound to its request until its last end. */
export function gone({ receipt: _receipt, tombstoneEnd, head, expires, ...row }: Row, why: GoneWhy): Row {
  const end = tombstoneEnd ?? expires
  return {
    ...row,
    why,
    ...(end === undefined ? {} : { expires: end }),
    ...(head && why === 'expired' ? { head } : {}),
  }
}

/** What running and unknown become when the next attempt may run. */
export function opened({ leaseEnd: _leaseEnd, ...row }: Row, at: number): Row {
  return { ...row, state: 'open', expires: Math.max(at + row.retainMs, row.dedupesUntil ?? 0) }
}

export function unknown({ leaseEnd: _leaseEnd, expires: _expires, ...row }: Row, why: string): Row {
  return { ...row, state: 'unknown', why }
}

export function seenAt(row: Row | undefined, at: number): Seen {
  if (row === undefined) return { kind: 'absent' }
  const running = row.state === 'running'
  return {
    kind: 'record',
    record: recordOf(row, at),
    print: row.print,
    over: isOver(row, at),
    dedupesOver: row.dedupesUntil !== undefined && at >= row.dedupesUntil,
    ...(row.token === undefined ? {} : { token: row.token }),
    ...(running && row.onAbandoned ? { onAbandoned: row.onAbandoned } : {}),
    ...(running && row.leaseEnd !== undefined ? { leaseLeftMs: row.leaseEnd - at } : {}),
    ...(running && row.fence !== undefined ? { ageMs: Math.max(0, at - Number(row.fence / 1_000n)) } : {}),
  }
}

export function recordOf(row: Row, at: number): KeyRecord | FinishedRecord {
  const answers = row.receipt !== undefined && !isExpired(row, at)
  const { id, state, fence, label, why, leaseEnd, expires, receipt, head } =
    row.receipt !== undefined && !answers ? gone(row, 'expired') : row
  return {
    id,
    ...label,
    state,
    ...(fence === undefined ? {} : { fence }),
    ...(leaseEnd === undefined ? {} : { leaseEndsAt: new Date(leaseEnd) }),
    ...(expires === undefined ? {} : { expiresAt: new Date(expires) }),
    ...(why === undefined ? {} : { why }),
    ...(receipt ? { receipt: receipt.slice() } : {}),
    // Beside an answer stands what its tombstone will say: nobody's business yet.
    ...(head && !answers ? { head: head.slice() } : {}),
  }
}

export function microseconds(at: number): bigint {
  return BigInt(Math.round(at * 1_000))
}

function full(maxRecords: number): OncekeyError {
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: `The store in memory holds ${maxRecords} records, and none of them is past its end.`,
    where: 'memory',
    why: 'Dropping one would let its operation run a second time; the work did not run and will not.',
    fix: 'Keep answers for a shorter time, raise `maxRecords`, or use a store with a disk.',
    details: { maxRecords },
  })
}
