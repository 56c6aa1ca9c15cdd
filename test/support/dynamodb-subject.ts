// DynamoDB as a subject of the store contract: a table for each rule, with faults, effects and a clock as they are asked for.
import { CreateTableCommand, type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { expect } from 'vitest'
import { milliseconds } from '../../packages/oncekey/src/core/clock.ts'
import type { Collecting, Store } from '../../packages/oncekey/src/core/store.ts'
import { caller } from '../../packages/oncekey/src/stores/dynamodb/client.ts'
import { dynamoDriver } from '../../packages/oncekey/src/stores/dynamodb/driver.ts'
import { type DynamoWrites, dynamodb } from '../../packages/oncekey/src/stores/dynamodb/index.ts'
import { serviceClock } from '../../packages/oncekey/src/stores/dynamodb/service-clock.ts'
import type { Ground } from '../../packages/oncekey/src/stores/dynamodb/table.ts'
import { leased } from '../../packages/oncekey/src/stores/leased.ts'
import { faulty } from '../../packages/oncekey/src/testing/faulty.ts'
import { faultProxy } from '../../packages/oncekey/src/testing/proxy.ts'
import type { Settings, Subject } from '../../packages/oncekey/src/testing/store-contract/subject.ts'
import type { DynamoServer } from './dynamodb.ts'

type Grant = Collecting<DynamoWrites>

/** A row of the user's own, beside the records. */
export const EFFECTS = 'effects'

export async function makeEffects(client: DynamoDBClient): Promise<void> {
  const made = client.send(
    new CreateTableCommand({
      TableName: EFFECTS,
      AttributeDefinitions: [{ AttributeName: 'mark', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'mark', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  )
  // Another test file may have made it on the same server.
  await made.catch((error: Error) => expect(error.name).toBe('ResourceInUseException'))
}

export async function countEffect(client: DynamoDBClient, mark: string): Promise<number> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: EFFECTS, Key: { mark: { S: mark } }, ConsistentRead: true }),
  )
  return Number(Item?.times?.N ?? 0)
}

/** Counts, so that a second run would show. */
export function writeEffect(tx: DynamoWrites, mark: string): void {
  tx.update({
    TableName: EFFECTS,
    Key: { mark: { S: mark } },
    UpdateExpression: 'ADD times :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  })
}

/** As the factory makes it, in real time. */
export async function factorySubject(server: DynamoServer, settings: Settings): Promise<Subject<Grant>> {
  const proxy = await faultProxy({ to: server.url })
  const client = server.client({ endpoint: proxy.url })
  const table = server.table()
  const open = (others: Settings): Store<Grant> =>
    dynamodb(client, { table, maxSkew: 0, ...others, ...patient(others) })
  let store = open(settings)
  await store.admin.migrate()
  return {
    store,
    another: open,
    async reopen() {
      await store[Symbol.asyncDispose]()
      store = open(settings)
      return store
    },
    async sever() {
      proxy.down()
      await proxy.up()
    },
    ...parts(client, table),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
    },
  }
}

/** The server, a hundred racers and their neighbours share two cores: an owner may have to wait for its answer longer than 600 ms. */
function patient({ lease = 0 }: Settings): Pick<Settings, 'lease'> {
  return { lease: Math.max(milliseconds(lease, 'lease'), 5_000) }
}

/** The factory's own parts, with faults between bracket and port, and time that stands still until a rule moves it. */
export async function movedSubject(server: DynamoServer, settings: Settings): Promise<Subject<Grant>> {
  const client = server.client()
  const table = server.table()
  let now = Date.now()
  const ground: Ground = { call: caller(client, serviceClock()), table, at: () => ({ now, skewMs: 0 }) }
  const { driver, faults } = faulty(
    dynamoDriver(ground, { retainMs: milliseconds(settings.retain ?? '24h', 'retain') }),
  )
  await driver.admin.migrate()
  const store = leased(driver, settings)
  return {
    store,
    faults,
    another: (others) => leased(driver, others),
    advance(ms) {
      now += ms
    },
    ...parts(client, table),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

function parts(client: DynamoDBClient, table: string): Pick<Subject<Grant>, 'effects' | 'damage'> {
  return {
    effects: {
      async write({ tx }, mark) {
        writeEffect(tx, mark)
      },
      count: (mark) => countEffect(client, mark),
    },
    async damage(id) {
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { k: { S: id } },
          UpdateExpression: 'SET #s = :state',
          ExpressionAttributeNames: { '#s': 's' },
          ExpressionAttributeValues: { ':state': { N: '42' } },
        }),
      )
    },
  }
}
