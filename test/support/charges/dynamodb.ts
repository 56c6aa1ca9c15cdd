import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { databaseOnly } from 'oncekey'
import { dynamodb } from 'oncekey/dynamodb'
import { LOCAL } from '../dynamodb-account.ts'
import type { Env, Serve } from './charging.ts'

/** The charge is counted in an item of its own, written in one transaction with the receipt. */
export async function open(serve: Serve, { STORE = '', TABLE = '', LEASE = '30s' }: Env): Promise<void> {
  const client = new DynamoDBClient({ ...LOCAL, endpoint: STORE.replace('dynamodb:', '') })
  const counted = (k: string) => ({
    TableName: `${TABLE}-counts`,
    Key: { k: { S: k } },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  })
  const store = dynamodb(client, { table: TABLE, maxSkew: '200ms', lease: LEASE as '30s', ...databaseOnly })
  return serve(store, async ({ tx }) => {
    await client.send(new UpdateItemCommand(counted('starts')))
    return () => tx.update(counted('charges'))
  })
}
