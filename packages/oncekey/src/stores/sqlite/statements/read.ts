/** Reads what stands, to decide by it. */
import type { Statement } from '../../database/database.ts'
import { bytes } from '../sql.ts'
import { COLUMNS } from './columns.ts'

export function read(record: string): (id: string) => Statement {
  const text = `
  select ${COLUMNS}
    from ${record}
   where k = ?1`
  return (id) => ({ text, params: [bytes(id)] })
}
