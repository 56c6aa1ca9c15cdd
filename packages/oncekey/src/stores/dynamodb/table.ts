/** The table and how its items are read and written, one call each. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { sleep } from '../../core/clock.ts'
import type { Attributes, Call } from './client.ts'
import { type Change, type Condition, conditional, text, update } from './expressions.ts'
import { type Instant, type Stored, storedFrom } from './item.ts'
import { isConflict, refusedBy } from './refusals.ts'

/** Where everything is, for all that works on it. */
export interface Ground {
  readonly call: Call
  readonly table: string
  /** The instant, and how far the clocks of two callers may be apart. */
  at(): Instant
}

/** A write that was not done, and what stands there. */
export interface Standing {
  readonly stored: Stored | undefined
}

export async function read({ call, table }: Ground, id: string): Promise<Stored | undefined> {
  const { Item } = await call('GetItem', { TableName: table, Key: { k: text(id) }, ConsistentRead: true })
  return Item && storedFrom(Item)
}

export function put(ground: Ground, id: string, item: Attributes, condition: Condition): Promise<'done' | Standing> {
  const { call, table } = ground
  return refusable(ground, id, () =>
    call('PutItem', { TableName: table, Item: item as Record<string, AttributeValue>, ...conditional(condition) }),
  )
}

export function change(ground: Ground, id: string, to: Change, condition: Condition): Promise<'done' | Standing> {
  return refusable(ground, id, () => ground.call('UpdateItem', update(ground.table, id, to, condition)))
}

export function remove(ground: Ground, id: string, condition: Condition): Promise<'done' | Standing> {
  const { call, table } = ground
  return refusable(ground, id, () =>
    call('DeleteItem', { TableName: table, Key: { k: text(id) }, ...conditional(condition) }),
  )
}

/** A transaction holds an item for milliseconds; whoever meets one waits for its end a few times, and then says so. */
const CONFLICTS = 6

async function refusable(ground: Ground, id: string, send: () => Promise<unknown>): Promise<'done' | Standing> {
  for (let conflicts = 0; ; conflicts++) {
    try {
      await send()
      return 'done'
    } catch (error) {
      const refused = refusedBy(error)
      // No item: there is none (or the server is an emulator that does not say). Both are rare, and a read tells.
      if (refused) return { stored: refused.item ? storedFrom(refused.item) : await read(ground, id) }
      if (!isConflict(error) || conflicts === CONFLICTS) throw error
      await sleep(5 * 2 ** conflicts * (0.5 + Math.random() / 2))
    }
  }
}
