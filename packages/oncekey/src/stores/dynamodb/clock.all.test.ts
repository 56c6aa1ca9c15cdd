/** S4: the `Date` of every response is heard, and a host whose clock is hours off takes nothing over. */
import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { describeDynalite } from '../../../../../test/support/dynamodb.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { caller } from './client.ts'
import { dynamodb } from './index.ts'

describeDynalite('the time of the service', (server) => {
  const table = server.table()
  let client: DynamoDBClient
  beforeAll(async () => {
    client = server.client()
    await dynamodb(client, { table, ...databaseOnly }).admin.migrate()
  })
  afterEach(() => void vi.restoreAllMocks())

  it('is heard in answers and in refusals', async () => {
    const heard: (string | undefined)[] = []
    const call = caller(client, {
      now: () => 0,
      heard(date, sentAt, receivedAt) {
        expect(receivedAt).toBeGreaterThan(sentAt)
        heard.push(date)
      },
    })
    const item = { TableName: table, Item: { k: { S: 'x' } } }
    await call('PutItem', item)
    await expect(call('PutItem', { ...item, ConditionExpression: 'attribute_not_exists(k)' })).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
    })
    expect(heard).toHaveLength(2)
    for (const date of heard) expect(Math.abs(Date.parse(date ?? '') - Date.now())).toBeLessThan(10_000)
    await client.send(new PutItemCommand(item))
    expect(heard).toHaveLength(2)
  })

  it.each([3_600_000, -3_600_000])('a host that is %d ms off takes no lease, and its own is honoured', async (off) => {
    const open = () => dynamodb(client, { table, lease: '20s', ...databaseOnly })
    const [right, wrong] = [open(), open()]
    const operation = (key: string) => ({ scope: `clock ${off}`, key, fingerprints: ['body'] as const })
    const { now } = Date
    const asWrong = <T>(body: () => Promise<T>) => {
      vi.spyOn(Date, 'now').mockImplementation(() => now() + off)
      return body().finally(() => vi.restoreAllMocks())
    }
    const neverRuns = async () => expect.fail('it ran twice')
    const outcome = await once(right, operation('one'), async () =>
      asWrong(() => once(wrong, operation('one'), neverRuns)),
    )
    expect(outcome).toMatchObject({ kind: 'ran', value: { kind: 'busy' } })
    const other = await asWrong(() =>
      once(wrong, operation('two'), async () => {
        vi.restoreAllMocks()
        return once(right, operation('two'), neverRuns)
      }),
    )
    expect(other).toMatchObject({ kind: 'ran', value: { kind: 'busy' } })
  })
})
