// DynamoDB: a claim with a lease, and writes that commit with the answer.
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { databaseOnly, downstreamDedupes, type Operation, once } from 'oncekey'
import { dynamodb } from 'oncekey/dynamodb'
import type { Bank } from './frameworks.ts'

export function collected(client: DynamoDBClient) {
  // #region collected
  const store = dynamodb(client, { retain: '24h', ...databaseOnly })

  function placeOrder(operation: Operation, id: string, item: string) {
    return once(store, operation, async ({ tx }) => {
      tx.put({ TableName: 'orders', Item: { id: { S: id }, item: { S: item } } })
      tx.update({
        TableName: 'stock',
        Key: { item: { S: item } },
        UpdateExpression: 'ADD #left :one',
        ConditionExpression: '#left > :zero',
        ExpressionAttributeNames: { '#left': 'left' },
        ExpressionAttributeValues: { ':one': { N: '-1' }, ':zero': { N: '0' } },
      })
      return { id } // nothing was sent yet: order, stock and answer commit together, or none of them
    })
  }
  // #endregion
  return { store, placeOrder }
}

export function plainValues(client: DynamoDBClient) {
  // #region marshall
  const store = dynamodb(client, {
    marshall: (item: Record<string, unknown>) => marshall(item, { removeUndefinedValues: true }),
    ...databaseOnly,
  })

  function placeOrder(operation: Operation, id: string, amount: number) {
    return once(store, operation, async ({ tx }) => tx.put({ TableName: 'orders', Item: { id, amount } }))
  }
  // #endregion
  return { store, placeOrder }
}

export function withABank(client: DynamoDBClient, bank: Bank) {
  // #region bank
  const store = dynamodb(client, downstreamDedupes({ for: '24h' }))

  function charge(operation: Operation, id: string, amount: number) {
    return once(store, operation, async (grant) => {
      const paid = await bank.charge(grant.childKey('charge'), amount, grant.signal)
      grant.tx.put({ TableName: 'orders', Item: { id: { S: id }, paid: { S: paid.id } } })
      return paid
    })
  }
  // #endregion
  return { store, charge }
}

export async function table(client: DynamoDBClient) {
  // #region migrate
  const store = dynamodb(client, { table: 'oncekey', ...databaseOnly })
  await store.admin.migrate() // for a laptop or a test; in production the table comes from your templates
  // #endregion
  return store
}
