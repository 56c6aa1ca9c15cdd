/** What the work writes commits together with its answer, in one transaction that the record guards (L1). */
import type { CancellationReason, TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb'
import { monotonic, sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import type { Seen } from '../../core/record.ts'
import type { Held, Kept, OpenedTransaction } from '../../core/store.ts'
import { InDoubt } from '../database/database.ts'
import { finished } from './changes.ts'
import { mine, update } from './expressions.ts'
import { seenFrom, storedFrom } from './item.ts'
import { cancelledBy, isDefinite } from './refusals.ts'
import { sizeOf } from './size.ts'
import { type Ground, read } from './table.ts'
import { collection, type DynamoWrites, type Values } from './writes.ts'

export type { DynamoWrites } from './writes.ts'

export interface CollectOptions<Item> {
  /** Where writes are given in other values than DynamoDB's own: `marshall` of `@aws-sdk/util-dynamodb`. */
  readonly marshall?: ((item: Item) => Values) | undefined
}

/** What passes: another transaction is at one of the items, or the table is short of capacity. */
const PASSING: readonly string[] = ['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']
/** Work that ended in the last moment of its time has this long to be kept. */
const LEAST_MS = 1_000

export function collecting<Item>(
  ground: Ground,
  held: Held,
  { marshall }: CollectOptions<Item>,
): OpenedTransaction<DynamoWrites<Item>> {
  const startedAt = monotonic()
  const collected = collection(marshall)

  /** The record comes last, so that the reasons of a cancelled transaction stand in the order of the user's writes. */
  async function complete(kept: Kept): Promise<'done' | Seen> {
    const instant = ground.at()
    const to = finished(held, kept, instant)
    collected.close(sizeOf(to.set))
    const until = Math.max(startedAt + held.policy.workMs, monotonic() + LEAST_MS)
    const input = {
      TransactItems: [...collected.writes, { Update: update(ground.table, held.id, to, mine(held, instant)) }],
      // Of this attempt alone: sent again, also by the SDK itself, it is the same transaction for ten minutes.
      ClientRequestToken: randomHex(16),
    }
    return insist(until, () => commit(input))
  }

  async function commit(input: TransactWriteItemsCommandInput): Promise<'done' | Seen> {
    try {
      await ground.call('TransactWriteItems', input)
      return 'done'
    } catch (error) {
      const ours = cancelledBy(error)?.at(-1)
      if (ours?.Code !== 'ConditionalCheckFailed') throw error
      return seenFrom(ours.Item ? storedFrom(ours.Item) : await read(ground, held.id), ground.at())
    }
  }

  return {
    tx: collected.tx,
    // There is no connection that could die.
    gone: new AbortController().signal,
    complete,
    isEmpty: () => collected.writes.length === 0,
    async rollback() {
      collected.close(0)
    },
  }
}

/** Until the service has answered, or time is up: then nobody knows whether the last send arrived. */
async function insist<T>(until: number, send: () => Promise<T>): Promise<T> {
  let inDoubt = false
  for (let pause = 10; ; pause = Math.min(pause * 2, 500)) {
    try {
      return await send()
    } catch (error) {
      // Cancelled: nothing of it was done, by any send before it either, since that would have been this one's answer.
      const reasons = cancelledBy(error)
      if (reasons) {
        if (monotonic() >= until || !reasons.every(passes)) throw error
      } else if (isDefinite(error)) throw inDoubt ? new InDoubt(error) : error
      else if (monotonic() >= until) throw new InDoubt(error)
      else inDoubt = true
    }
    await sleep(pause * (0.5 + Math.random() / 2))
  }
}

function passes({ Code = 'None' }: CancellationReason): boolean {
  return PASSING.includes(Code)
}
