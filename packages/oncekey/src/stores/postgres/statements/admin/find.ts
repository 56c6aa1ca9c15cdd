/** Looks one record up, for people. */
import type { Statement } from '../../../database/database.ts'
import type { Names } from '../../names.ts'
import { columns } from '../columns.ts'

export function find({ record }: Names): (id: string) => Statement {
  const text = `
select ${columns}
  from ${record}
 where k = $1::uuid`
  return (id) => ({ text, params: [id] })
}
