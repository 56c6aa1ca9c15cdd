/** The body of a kept record: its receipt, and in front of it what stays of it once its retention is over. */
import { readLabel, writeLabel } from '../core/label.ts'
import type { Receipt } from '../core/record.ts'

/** Ends what stands in front of the receipt: no label has it inside, since JSON escapes it. SQL and Lua cut here. */
const MARK = 0

/**
 * `head` and `tombstone`: 0, the tombstone's label, 0, the receipt. A receipt that itself begins with 0 gets an empty
 * label, so that what is read is always what was written.
 */
export function writeKept(kept: { readonly receipt: Receipt; readonly head?: Receipt }, tombstone = false): Uint8Array {
  const { receipt, head } = kept
  if (!tombstone && receipt[0] !== MARK) return receipt
  const label = tombstone ? tombstoneOf(head) : new Uint8Array()
  const body = new Uint8Array(label.length + 2 + receipt.length)
  body.set(label, 1)
  body.set(receipt, label.length + 2)
  return body
}

export interface ReadKept {
  readonly receipt: Receipt
  /** The label of the tombstone, as a spent record has it in its body. */
  readonly tombstone?: Uint8Array
}

export function readKept(body: Uint8Array): ReadKept {
  if (body[0] !== MARK) return { receipt: body }
  const end = body.indexOf(MARK, 1)
  // Not ours to understand: whoever decodes it says so.
  if (end === -1) return { receipt: body }
  const tombstone = body.subarray(1, end)
  return { receipt: body.subarray(end + 1), ...(tombstone.length === 0 ? {} : { tombstone }) }
}

/** What a record says once its answer is gone and its key is not. */
export function tombstoneOf(head?: Receipt): Uint8Array {
  return writeLabel({ why: 'expired', ...(head ? { head } : {}) })
}

export function readTombstone(bytes: Uint8Array | undefined): { readonly why: 'expired'; readonly head?: Receipt } {
  const { head } = readLabel(bytes)
  return { why: 'expired', ...(head ? { head } : {}) }
}
