/** Conditions and updates as DynamoDB writes them, from attributes and their values. */
import type { AttributeValue, Update } from '@aws-sdk/client-dynamodb'
import type { Held } from '../../core/store.ts'
import { STATE } from '../row.ts'
import type { Attributes } from './client.ts'
import type { Instant, Stored } from './item.ts'

/** `#name` stands for the attribute `name`, `:name` for one of the values. */
export interface Condition {
  readonly text: string
  readonly values: Attributes
}
export interface Change {
  readonly set: Attributes
  readonly remove?: readonly string[]
}

export const number = (value: number | bigint): AttributeValue => ({
  N: String(typeof value === 'bigint' ? value : Math.floor(value)),
})
export const text = (value: string): AttributeValue => ({ S: value })

/** Mine: the record holds my token and fence, and is in one of the states from which an owner may go on. */
export function mine({ token, fence }: Pick<Held, 'token' | 'fence'>, { now, skewMs }: Instant): Condition {
  return {
    text: '#t = :token AND #n = :fence AND (#s IN (:takeover, :hold, :unknown) OR (#s = :open AND #e > :past))',
    values: { ...ownedBy(token, fence), ':open': number(STATE.open), ':past': number(now - skewMs) },
  }
}

/** Mine, and not open: what is open already is not opened again, or its retention would begin anew. */
export function mineAtWork({ token, fence }: Pick<Held, 'token' | 'fence'>): Condition {
  return {
    text: '#t = :token AND #n = :fence AND #s IN (:takeover, :hold, :unknown)',
    values: ownedBy(token, fence),
  }
}

function ownedBy(token: string, fence: bigint): Attributes {
  return {
    ':token': text(token),
    ':fence': number(fence),
    ':takeover': number(STATE.takeover),
    ':hold': number(STATE.hold),
    ':unknown': number(STATE.unknown),
  }
}

/** Exactly the record that was seen: a beat since then moved its lease, an ending its state, a claim its fence. */
export function asSeen({ state, token, fence, ends, leaseEnds }: Stored): Condition {
  const parts = Object.entries({
    s: number(state),
    t: token === undefined ? undefined : text(token),
    n: fence === undefined ? undefined : number(fence),
    e: ends === undefined ? undefined : number(ends),
    l: leaseEnds === undefined ? undefined : number(leaseEnds),
  })
  return {
    text: parts
      .map(([name, value]) => (value ? `#${name} = :was_${name}` : `attribute_not_exists(#${name})`))
      .join(' AND '),
    values: Object.fromEntries(parts.flatMap(([name, value]) => (value ? [[`:was_${name}`, value]] : []))),
  }
}

/** An `Update` of the item with this key, as a call of its own and as a part of a transaction. */
export function update(table: string, key: string, { set, remove = [] }: Change, condition: Condition): Update {
  const sets = Object.keys(set).map((name) => `#${name} = :to_${name}`)
  const gone = remove.filter((name) => !(name in set)).map((name) => `#${name}`)
  const expression = [
    ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
    ...(gone.length > 0 ? [`REMOVE ${gone.join(', ')}`] : []),
  ].join(' ')
  const values = Object.fromEntries(Object.entries(set).map(([name, value]) => [`:to_${name}`, value]))
  return {
    TableName: table,
    Key: { k: text(key) },
    UpdateExpression: expression,
    ...conditional(condition, expression, values),
  }
}

/** What a condition adds to a write: a refused one answers with what stands there. */
export function conditional({ text, values }: Condition, expression = '', more: Attributes = {}) {
  const all = { ...values, ...more }
  return {
    ConditionExpression: text,
    ExpressionAttributeNames: namesIn(`${expression} ${text}`),
    // None is not the same as an empty map of them, which is refused.
    ...(Object.keys(all).length > 0 ? { ExpressionAttributeValues: all } : {}),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const
}

/** Always by placeholder: some names are reserved words. */
function namesIn(expression: string): Record<string, string> {
  return Object.fromEntries([...expression.matchAll(/#(\w+)/g)].map(([whole, name]) => [whole, name as string]))
}
