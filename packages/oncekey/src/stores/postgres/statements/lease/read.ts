/** Reads what stands, to decide by it. */
import type { Statement } from '../../../database/database.ts'
import { columns } from '../columns.ts'

/** On a standby it is an error (T14): what a standby does not know yet may have happened. */
export function read(record: string): (id: string) => Statement {
  const text = `
with clock as materialized (select clock_timestamp() as t, 1 / (not pg_is_in_recovery())::int as primary_only)
select ${columns}
  from clock left join ${record} as r on r.k = $1::uuid`
  return (id) => ({ text, params: [id] })
}
