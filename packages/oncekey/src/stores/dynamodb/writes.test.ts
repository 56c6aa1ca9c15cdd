/** DynamoDB's limits are known before a call: what would be refused at the end of the work is refused where it is written. */
import { marshall } from '@aws-sdk/util-dynamodb'
import { expect, it } from 'vitest'
import { isOncekeyError } from '../../core/errors.ts'
import { sizeOf } from './size.ts'
import { collection, type Values } from './writes.ts'

const TableName = 'orders'
const key = (id: string): Values => ({ id: { S: id } })
const set = (id: string, value = 'x') => ({
  TableName,
  Key: key(id),
  UpdateExpression: 'SET v = :v',
  ExpressionAttributeValues: { ':v': { S: value } },
})
const limit = (what: RegExp) =>
  expect.toSatisfy((error: unknown) => isOncekeyError(error, 'TX_LIMIT') && what.test(error.what))

it('takes ninety-nine writes beside the record, and no hundredth', () => {
  const { tx, writes } = collection(undefined)
  for (let n = 0; n < 99; n++) tx.update(set(`o${n}`))
  expect(() => tx.update(set('one more'))).toThrow(limit(/write 100/))
  expect(writes).toHaveLength(99)
})

it('takes an item of 400 kB and none that is larger', () => {
  const { tx } = collection(undefined)
  const Item = (bytes: number) => ({ id: { S: 'o' }, b: { B: new Uint8Array(bytes) } })
  expect(() => tx.put({ TableName, Item: Item(409_600) })).toThrow(limit(/at most 409600/))
  tx.put({ TableName, Item: Item(409_600 - 4) })
})

it('takes 4 MB in all, the record with it', () => {
  const { tx, close } = collection(undefined)
  for (let n = 0; n < 10; n++) tx.put({ TableName, Item: { id: { S: `o${n}` }, b: { B: new Uint8Array(400_000) } } })
  expect(() => tx.put({ TableName, Item: { id: { S: 'o' }, b: { B: new Uint8Array(400_000) } } })).toThrow(
    limit(/4194304/),
  )
  tx.put({ TableName, Item: { id: { S: 'o' }, b: { B: new Uint8Array(150_000) } } })
  expect(() => close(400_000)).toThrow(limit(/the answer/))
})

it.each([
  ['update', 'update'],
  ['update', 'check'],
  ['delete', 'update'],
  ['put', 'update'],
  ['delete', 'put'],
] as const)('%s and %s of one item are refused, and of two are not', (first, second) => {
  for (const same of [true, false]) {
    const { tx } = collection(undefined)
    const write = (how: typeof first | typeof second, id: string) => {
      switch (how) {
        case 'put':
          return tx.put({ TableName, Item: { ...key(id), v: { N: '1' } } })
        case 'update':
          return tx.update(set(id))
        case 'delete':
          return tx.delete({ TableName, Key: key(id) })
        case 'check':
          return tx.check({ TableName, Key: key(id), ConditionExpression: 'attribute_exists(id)' })
        default:
          throw how satisfies never
      }
    }
    write(first, 'o1')
    const again = () => write(second, same ? 'o1' : 'o2')
    if (same) expect(again).toThrow(limit(/one item of orders/))
    else again()
  }
})

it('the same key in two tables is two items', () => {
  const { tx } = collection(undefined)
  tx.update(set('o1'))
  tx.update({ ...set('o1'), TableName: 'refunds' })
})

it('plain values are taken where there is something to make them DynamoDB’s', () => {
  const { tx, writes } = collection((values: Record<string, unknown>) => marshall(values))
  tx.put({ TableName, Item: { id: 'o1', amount: 2_500, tags: ['a'] } })
  tx.delete({
    TableName,
    Key: { id: 'o2' },
    ConditionExpression: 'amount = :a',
    ExpressionAttributeValues: { ':a': 7 },
  })
  expect(writes).toEqual([
    { Put: { TableName, Item: { id: { S: 'o1' }, amount: { N: '2500' }, tags: { L: [{ S: 'a' }] } } } },
    {
      Delete: {
        TableName,
        Key: { id: { S: 'o2' } },
        ConditionExpression: 'amount = :a',
        ExpressionAttributeValues: { ':a': { N: '7' } },
      },
    },
  ])
})

it.each([
  [{ id: { S: 'é' } }, 4],
  [{ n: { N: '-12.5' } }, 4],
  [{ b: { B: new Uint8Array(3) } }, 4],
  [{ b: { BOOL: true }, z: { NULL: true } }, 4],
  [{ m: { M: { a: { S: 'b' } } } }, 1 + 3 + 1 + 2],
  [{ l: { L: [{ S: 'a' }, { S: 'b' }] } }, 1 + 3 + 2 + 2],
  [{ s: { SS: ['a', 'bc'] } }, 4],
] as const)('%j is counted as %d bytes', (attributes, bytes) => {
  expect(sizeOf(attributes as unknown as Values)).toBe(bytes)
})
