import { CreateTableCommand, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { databaseOnly } from 'oncekey'
import { dynamodb } from 'oncekey/dynamodb'
import type { Arena, Ground } from '../charges/charging.ts'
import type { DynamoServer } from '../dynamodb.ts'

export function dynamodbArena(server: DynamoServer): Arena {
  return { name: 'DynamoDB Local', mode: 'lease', effect: 'inside', slackMs: 300, ground: () => ground(server) }
}

async function ground(server: DynamoServer): Promise<Ground> {
  const table = server.table()
  const client = server.client()
  const store = dynamodb(client, { table, ...databaseOnly })
  await store.admin.migrate()
  await store[Symbol.asyncDispose]()
  await client.send(
    new CreateTableCommand({
      TableName: `${table}-counts`,
      AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  )
  const count = async (k: string) => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: `${table}-counts`, Key: { k: { S: k } }, ConsistentRead: true }),
    )
    return Number(Item?.n?.N ?? 0)
  }
  return {
    env: { STORE: `dynamodb:${server.url}`, TABLE: table },
    charges: () => count('charges'),
    starts: () => count('starts'),
  }
}
