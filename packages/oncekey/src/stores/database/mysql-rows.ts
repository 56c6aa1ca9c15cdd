/** What `mysql2` answers, as rows: result sets, and for writes one row that says how many were written. */
import type { Row } from './database.ts'

/** Of one statement. A block of several answers with the sets of its SELECTs, of which the first is meant. */
export function rowsOf(result: unknown): readonly Row[] {
  if (!Array.isArray(result)) return [headerOf(result)]
  const [first] = result as readonly unknown[]
  return Array.isArray(first) ? (first as Row[]) : (result as Row[])
}

/** Of a block: the sets of its SELECTs in their order. */
export function setsOf(result: unknown): readonly (readonly Row[])[] {
  if (!Array.isArray(result)) return []
  return (result as readonly unknown[]).filter((part): part is Row[] => Array.isArray(part))
}

function headerOf(result: unknown): Row {
  const { affectedRows, insertId } = result as { readonly affectedRows?: number; readonly insertId?: number }
  return { affected: affectedRows ?? 0, inserted: insertId ?? 0 }
}
