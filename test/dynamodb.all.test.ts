// DynamoDB through HTTP: races between processes, owners killed with SIGKILL, and a service that goes away.
import { databaseOnly } from 'oncekey'
import { dynamodb } from 'oncekey/dynamodb'
import { describe, it, onTestFinished, vi } from 'vitest'
import { crashes } from './support/crashes.ts'
import { describeDynamodbLocal } from './support/dynamodb.ts'
import { dynamodbArena } from './support/grounds/dynamodb.ts'
import { opened, outages } from './support/outages.ts'
import { changedBodies, race } from './support/race.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

describeDynamodbLocal('DynamoDB Local, lease mode with collected writes', (server) => {
  const arena = dynamodbArena(server)

  describe('a hundred identical requests at two processes end in one charge each round (idempot-dev/idempot-js#182)', () => {
    it('on Hono', async () => race(await arena.ground(), { MODE: 'lease', FRAMEWORK: 'hono' }))
    it('while fifty changed bodies get 422 (idempot-dev/idempot-js#183)', async () =>
      changedBodies(await arena.ground(), { MODE: 'lease', FRAMEWORK: 'express' }))
  })

  describe('a process killed with SIGKILL', () => crashes(arena))

  describe('a service that goes away', () => {
    outages({
      mode: 'lease',
      effect: 'inside',
      to: () => server.url,
      async open(url) {
        const { env, charges } = await arena.ground()
        const client = server.client({ endpoint: url })
        const options = { table: `${env.TABLE}`, lease: '1s', work: '2s', maxSkew: 0, ...databaseOnly } as const
        onTestFinished(() => client.destroy())
        return opened(dynamodb(client, options), {
          charge: ({ tx }) =>
            tx.update({
              TableName: `${env.TABLE}-counts`,
              Key: { k: { S: 'charges' } },
              UpdateExpression: 'ADD n :one',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            }),
          charges,
        })
      },
    })
  })
})
