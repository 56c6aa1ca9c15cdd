/** The types of the SDK's own clients fit, and `tx` takes the SDK's own shapes; a release of it that changes them fails here. */
import type { DynamoDB, DynamoDBClient, Put, TransactWriteItem } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { marshall, type NativeAttributeValue } from '@aws-sdk/util-dynamodb'
import { expectTypeOf, test } from 'vitest'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import type { Collecting, Store } from '../../core/store.ts'
import { type DynamoClient, type DynamoWrites, dynamodb } from './index.ts'

type Put1 = Parameters<DynamoWrites['put']>[0]
type Native = Record<string, NativeAttributeValue>

test('clients of the SDK are taken as they are', () => {
  expectTypeOf<DynamoDBClient>().toExtend<DynamoClient>()
  expectTypeOf<DynamoDB>().toExtend<DynamoClient>()
  expectTypeOf<DynamoDBDocumentClient>().toExtend<DynamoClient>()
  expectTypeOf<{ query(): void }>().not.toExtend<DynamoClient>()
})

test('tx takes what TransactWriteItems takes', () => {
  expectTypeOf<Put>().toExtend<Put1>()
  expectTypeOf<Put1>().toExtend<Put>()
  expectTypeOf<NonNullable<TransactWriteItem['Update']>>().toExtend<Parameters<DynamoWrites['update']>[0]>()
  expectTypeOf<NonNullable<TransactWriteItem['Delete']>>().toExtend<Parameters<DynamoWrites['delete']>[0]>()
  expectTypeOf<NonNullable<TransactWriteItem['ConditionCheck']>>().toExtend<Parameters<DynamoWrites['check']>[0]>()
})

test('it is inferred where it is used, and plain values need something that makes them DynamoDB’s', () => {
  const plain = (client: DynamoDBClient) => dynamodb(client, databaseOnly)
  const native = (client: DynamoDBDocumentClient) =>
    dynamodb(client, { ...databaseOnly, marshall: (item: Native) => marshall(item) })
  expectTypeOf(plain).returns.toEqualTypeOf<Store<Collecting<DynamoWrites>>>()
  expectTypeOf(native).returns.toEqualTypeOf<Store<Collecting<DynamoWrites<Native>>>>()
  const use = (client: DynamoDBClient, operation: { scope: string; key: string; fingerprints: readonly [string] }) => {
    void once(plain(client), operation, async ({ tx, fence }) => {
      expectTypeOf(fence).toEqualTypeOf<bigint>()
      tx.put({ TableName: 'orders', Item: { id: { S: 'o1' } } })
      // @ts-expect-error plain values without `marshall`
      tx.put({ TableName: 'orders', Item: { id: 'o1' } })
    })
    void once(native(client as never), operation, async ({ tx }) => {
      tx.put({ TableName: 'orders', Item: { id: 'o1', amount: 2_500 } })
    })
  }
  expectTypeOf(use).toBeFunction()
  // @ts-expect-error what follows a failure has to be said
  expectTypeOf((client: DynamoDBClient) => dynamodb(client, {})).toBeFunction()
})
