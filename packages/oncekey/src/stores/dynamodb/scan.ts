/** Walks over the records of the table, page by page: for people and timers, never for a request. */
import type { Attributes } from './client.ts'
import { text } from './expressions.ts'
import { type Stored, storedFrom } from './item.ts'
import type { Ground } from './table.ts'

export interface Scanning {
  /** The last key of an earlier walk. */
  readonly after?: string
  /** Items for each page; a page has at most 1 MB anyway. */
  readonly limit?: number
  /** What was just written is there, at twice the price. */
  readonly consistent?: boolean
}
export interface Page {
  readonly records: readonly Stored[]
  /** Items that were looked at, the few that are no records among them. */
  readonly looked: number
  /** Where to go on; nothing at the end of the table. */
  readonly next?: string
}

export async function page({ call, table }: Ground, { after, limit, consistent = false }: Scanning): Promise<Page> {
  const {
    Items = [],
    LastEvaluatedKey,
    ScannedCount,
  } = await call('Scan', {
    TableName: table,
    ConsistentRead: consistent,
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(after === undefined ? {} : { ExclusiveStartKey: { k: text(after) } }),
  })
  const next = LastEvaluatedKey?.k?.S
  return {
    records: Items.filter(isRecord).map(storedFrom),
    looked: ScannedCount ?? Items.length,
    ...(next === undefined ? {} : { next }),
  }
}

export async function* records(ground: Ground, scanning: Scanning = {}): AsyncIterable<Stored> {
  for (let after = scanning.after; ; ) {
    const { records, next } = await page(ground, { ...scanning, ...(after === undefined ? {} : { after }) })
    yield* records
    if (next === undefined) return
    after = next
  }
}

/** Beside the records stand the table's own item and the audit. */
function isRecord({ s }: Attributes): boolean {
  return s !== undefined
}
