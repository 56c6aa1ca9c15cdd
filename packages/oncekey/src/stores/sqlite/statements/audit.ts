/** Writes down who changed a record by hand, and why, in the transaction of the change. */
import type { KeyRecord } from '../../../core/record.ts'
import type { Audit } from '../../../core/store.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { bytes } from '../sql.ts'
import { NOW } from './columns.ts'

export interface Entry extends Audit {
  readonly seen: KeyRecord
  readonly action: string
  readonly label: Uint8Array | null
}

const NUMBERS = { running: STATE.takeover, open: STATE.open, finished: STATE.finished, unknown: STATE.unknown } as const

/** People's words are bytes: no encoding can refuse them (I6). */
export function audit(table: string): (entry: Entry) => Statement {
  const text = `
  insert into ${table} (at, k, action, state, fence, label, who, why)
  values (${NOW}, ?1, ?2, ?3, ?4, ?5, ?6, ?7)`
  return ({ seen, action, label, who, why }) => ({
    text,
    params: [
      bytes(seen.id),
      action,
      NUMBERS[seen.state],
      seen.fence ?? null,
      label,
      Buffer.from(who),
      Buffer.from(why),
    ],
  })
}
