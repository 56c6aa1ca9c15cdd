/** Who changed a record by hand, and why: an item beside the records, written in the same transaction as the change. */
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { randomHex } from '../../core/digest.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Audit } from '../../core/store.ts'
import { text } from './expressions.ts'
import type { Ground } from './table.ts'

export interface Noted {
  readonly what: 'finished' | 'free' | 'retry' | 'forget' | 'erase' | 'restored' | 'reconciled'
  /** Of the record; nothing where it was about all of them. */
  readonly id?: string
  readonly was?: KeyRecord['state']
}

/** Kept for ever: there is one for each time that somebody changed something. */
export function noteOf(ground: Ground, { what, id, was }: Noted, { who, why }: Audit): TransactWriteItem {
  const at = new Date(ground.at().now).toISOString()
  return {
    Put: {
      TableName: ground.table,
      Item: {
        k: text(`audit ${at} ${randomHex(4)}`),
        at: text(at),
        what: text(what),
        ...(id === undefined ? {} : { id: text(id) }),
        ...(was === undefined ? {} : { was: text(was) }),
        who: text(who),
        why: text(why),
      },
    },
  }
}
