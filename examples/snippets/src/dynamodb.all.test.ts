// Runs the snippets of docs/how-to/dynamodb.md on DynamoDB Local.
import {
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeDynamodbLocal } from '../../../test/support/dynamodb.ts'
import { collected, plainValues, table, withABank } from './dynamodb.ts'

const operation = (name: string) => ({ scope: 'acct_1', key: name, fingerprints: [name] as const })

describeDynamodbLocal('on DynamoDB', (server) => {
  let client: DynamoDBClient
  beforeAll(async () => {
    client = server.client()
    await table(client)
    for (const [name, key] of [
      ['orders', 'id'],
      ['stock', 'item'],
    ] as const)
      await client.send(
        new CreateTableCommand({
          TableName: name,
          KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: key, AttributeType: 'S' }],
          BillingMode: 'PAY_PER_REQUEST',
        }),
      )
    await client.send(new PutItemCommand({ TableName: 'stock', Item: { item: { S: 'tea' }, left: { N: '1' } } }))
  })
  // The server may outlive this file.
  afterAll(async () => {
    for (const TableName of ['oncekey', 'orders', 'stock']) await client.send(new DeleteTableCommand({ TableName }))
  })
  const order = async (id: string) =>
    (await client.send(new GetItemCommand({ TableName: 'orders', Key: { id: { S: id } } }))).Item

  it('order and stock commit with the answer, and what is sold out sells nothing', async () => {
    const { placeOrder } = collected(client)
    expect(await placeOrder(operation('one'), 'o1', 'tea')).toMatchObject({ kind: 'ran', value: { id: 'o1' } })
    expect(await placeOrder(operation('one'), 'o1', 'tea')).toMatchObject({ kind: 'replayed', value: { id: 'o1' } })
    await expect(placeOrder(operation('two'), 'o2', 'tea')).rejects.toMatchObject({
      name: 'TransactionCanceledException',
    })
    expect(await order('o1')).toBeDefined()
    expect(await order('o2')).toBeUndefined()
  })

  it('plain values', async () => {
    expect(await plainValues(client).placeOrder(operation('plain'), 'o3', 7)).toMatchObject({ kind: 'ran' })
    expect(await order('o3')).toEqual({ id: { S: 'o3' }, amount: { N: '7' } })
  })

  it('a bank is asked once, under the child key', async () => {
    const keys: string[] = []
    const bank = {
      async charge(key: string, amount: number) {
        keys.push(key)
        return { id: `mv_${amount}` }
      },
    }
    const { charge } = withABank(client, bank)
    for (const kind of ['ran', 'replayed'])
      expect(await charge(operation('bank'), 'o4', 7)).toMatchObject({ kind, value: { id: 'mv_7' } })
    expect(keys).toHaveLength(1)
    expect(await order('o4')).toMatchObject({ paid: { S: 'mv_7' } })
  })
})
