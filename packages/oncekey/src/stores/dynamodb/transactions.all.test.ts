/** What the work collects commits with its answer or not at all, on the only DynamoDB of one's own that has transactions. */
import { DynamoDB, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeDynamodbLocal } from '../../../../../test/support/dynamodb.ts'
import { LOCAL } from '../../../../../test/support/dynamodb-account.ts'
import { countEffect, EFFECTS, makeEffects, writeEffect } from '../../../../../test/support/dynamodb-subject.ts'
import { randomHex } from '../../core/digest.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { type AfterFailure, databaseOnly, downstreamDedupes, downstreamDoesNot } from '../../core/policy.ts'
import { anyWire, faultProxy } from '../../testing/proxy.ts'
import { type DynamoOptions, dynamodb } from './index.ts'

let names = 0
const run = randomHex(4)
const fresh = () => `tx-${run}-${++names}`
const operation = (key = fresh()) => ({ scope: 'acct_1', key, fingerprints: ['body'] as const })

describeDynamodbLocal('collected writes on DynamoDB Local', (server) => {
  const table = server.table()
  let client: DynamoDBClient
  beforeAll(async () => {
    client = server.client()
    await makeEffects(client)
    await storeOf(databaseOnly).admin.migrate()
  })

  function storeOf(after: AfterFailure, options: Partial<DynamoOptions> & { readonly endpoint?: string } = {}) {
    const { endpoint, ...rest } = options
    const through = endpoint === undefined ? client : server.client({ endpoint })
    return dynamodb(through, { table, maxSkew: 0, ...rest, ...after })
  }
  const count = (mark: string) => countEffect(client, mark)
  const put = (mark: string) => client.send(new PutItemCommand({ TableName: EFFECTS, Item: { mark: { S: mark } } }))

  describe("a condition of the user's own that fails is the work's failure (T10)", () => {
    const cases = [
      ['free', databaseOnly, 'ran'],
      ['retry', downstreamDedupes({ for: '24h' }), 'ran'],
      ['hold', downstreamDoesNot, 'unknown'],
    ] as const
    it.each(cases)('%s: its error reaches the caller, nothing was written', async (_how, after, then) => {
      const store = storeOf(after)
      const [charge, mark, taken] = [operation(), fresh(), fresh()]
      await put(taken)
      const work = (mark2: string) =>
        once(store, charge, async ({ tx }) => {
          writeEffect(tx, mark)
          tx.put({
            TableName: EFFECTS,
            Item: { mark: { S: mark2 } },
            ConditionExpression: 'attribute_not_exists(mark)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          })
          return 'booked'
        })
      const error = await work(taken).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        name: 'TransactionCanceledException',
        // In the order of the user's writes; the record's own part comes after them.
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'ConditionalCheckFailed', Item: { mark: { S: taken } } },
          { Code: 'None' },
        ],
      })
      expect(await count(mark)).toBe(0)
      expect((await work(fresh())).kind).toBe(then)
      expect(await count(mark)).toBe(then === 'ran' ? 1 : 0)
    })

    it('a check that holds lets everything commit', async () => {
      const [mark, there] = [fresh(), fresh()]
      await put(there)
      const outcome = await once(storeOf(databaseOnly), operation(), async ({ tx }) => {
        tx.check({
          TableName: EFFECTS,
          Key: { mark: { S: there } },
          ConditionExpression: 'attribute_exists(mark)',
        })
        writeEffect(tx, mark)
        return 1
      })
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
      expect(await count(mark)).toBe(1)
    })
  })

  it('a table that is not there is the work’s failure, told at once', async () => {
    const store = storeOf(databaseOnly)
    const charge = operation()
    const failed = once(store, charge, async ({ tx }) => {
      tx.delete({ TableName: 'no-such-table', Key: { mark: { S: 'x' } } })
    })
    await expect(failed).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    expect((await once(store, charge, async () => 1)).kind).toBe('ran')
  })

  it('two puts of one item, which only DynamoDB can see, are the work’s failure', async () => {
    const mark = fresh()
    const failed = once(storeOf(databaseOnly), operation(), async ({ tx }) => {
      tx.put({ TableName: EFFECTS, Item: { mark: { S: mark }, times: { N: '1' } } })
      tx.put({ TableName: EFFECTS, Item: { mark: { S: mark }, times: { N: '2' } } })
    })
    await expect(failed).rejects.toMatchObject({ name: 'ValidationException' })
    expect(await count(mark)).toBe(0)
  })

  it('a limit that is overstepped is TX_LIMIT, and nothing was sent', async () => {
    const mark = fresh()
    const failed = once(storeOf(databaseOnly), operation(), async ({ tx }) => {
      for (let n = 0; n < 100; n++) writeEffect(tx, `${mark}-${n}`)
    })
    await expect(failed).rejects.toMatchObject({ code: 'TX_LIMIT' })
    expect(await count(`${mark}-0`)).toBe(0)
  })

  it('ninety-nine writes and the answer are one transaction', async () => {
    const mark = fresh()
    const outcome = await once(storeOf(databaseOnly), operation(), async ({ tx }) => {
      for (let n = 0; n < 99; n++) writeEffect(tx, `${mark}-${n}`)
    })
    expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
    expect(await count(`${mark}-98`)).toBe(1)
  })

  it('a handle that outlives its work writes nothing (T7)', async () => {
    const mark = fresh()
    let late: (() => void) | undefined
    await once(storeOf(databaseOnly), operation(), async ({ tx }) => {
      writeEffect(tx, mark)
      late = () => writeEffect(tx, mark)
    })
    expect(() => late?.()).toThrow(expect.toSatisfy((error) => isOncekeyError(error, 'TX_CLOSED')))
    expect(await count(mark)).toBe(1)
  })

  it('plain values commit where `marshall` was given', async () => {
    const mark = fresh()
    const store = dynamodb(client, {
      ...{ table, maxSkew: 0, ...databaseOnly },
      marshall: (values: Record<string, unknown>) => marshall(values),
    })
    await once(store, operation(), async ({ tx }) => tx.put({ TableName: EFFECTS, Item: { mark, times: 3 } }))
    expect(await count(mark)).toBe(3)
  })

  it.each([
    ['the aggregated client', (endpoint: string) => new DynamoDB({ ...LOCAL, endpoint })],
    ['the document client', (endpoint: string) => DynamoDBDocumentClient.from(new DynamoDB({ ...LOCAL, endpoint }))],
  ])('%s does as well, and is left as it was', async (_name, make) => {
    const made = make(server.url)
    const before = made.middlewareStack.identify()
    await using store = dynamodb(made, { table, maxSkew: 0, ...databaseOnly })
    const [charge, mark] = [operation(), fresh()]
    const work = () => once(store, charge, async ({ tx }) => writeEffect(tx, mark))
    expect((await work()).kind).toBe('ran')
    expect((await work()).kind).toBe('replayed')
    expect(await count(mark)).toBe(1)
    expect(made.middlewareStack.identify()).toEqual(before)
    made.destroy()
  })

  it('an answer of the largest size commits with a write', async () => {
    const store = storeOf(databaseOnly)
    const mark = fresh()
    const charge = operation()
    const receipt = new Uint8Array(store.maxBytes ?? 0).fill(7)
    const how = { policy: { ...databaseOnly, retainMs: 60_000, tombstoneMs: 60_000, workMs: 5_000, leaseMs: 5_000 } }
    const filled = { ...how, policy: { ...how.policy, rerunnable: false, discardable: false }, repeatable: true }
    const head = new Uint8Array(100_000)
    const attempted = await store.attempt(charge, filled, async ({ tx }) => {
      writeEffect(tx, mark)
      return { kind: 'keep', receipt, head, writes: 'commit' }
    })
    expect(attempted).toEqual({ kind: 'won', fate: 'kept' })
    expect(await count(mark)).toBe(1)
    const again = await store.attempt(charge, filled, async () => expect.fail('it ran again'))
    expect(again.kind === 'finished' && again.record.receipt?.length).toBe(receipt.length)
  })

  it('a larger one is spent, and its writes are there', async () => {
    const mark = fresh()
    const charge = operation()
    const outcome = await once(storeOf(databaseOnly), charge, async ({ tx }) => {
      writeEffect(tx, mark)
      return { large: Array.from({ length: 60_000 }, () => Math.random()) }
    })
    expect(outcome).toMatchObject({ kind: 'ran', fate: 'spent' })
    expect(await count(mark)).toBe(1)
    const again = await once(storeOf(databaseOnly), charge, async () => expect.fail('it ran again'))
    expect(again).toMatchObject({ kind: 'not-kept', record: { why: 'too-large' } })
  })

  describe('a commit whose messages are lost (§5)', () => {
    it.each(['request', 'answer'] as const)('cut at its %s: sent again, and done once', async (at) => {
      await using proxy = await faultProxy({ to: server.url, wire: anyWire })
      const store = storeOf(databaseOnly, { endpoint: proxy.url })
      const [charge, mark] = [operation(), fresh()]
      const armed = proxy.next('TransactWriteItems', { kind: 'cut', at })
      const outcome = await once(store, charge, async ({ tx }) => writeEffect(tx, mark))
      await armed.struck
      expect(outcome).toMatchObject({ kind: 'ran', fate: 'kept' })
      expect(await count(mark)).toBe(1)
      expect((await once(store, charge, async () => expect.fail('it ran again'))).kind).toBe('replayed')
    })

    it.each(['request', 'answer'] as const)(
      'the service is gone from its %s on: unknown to the caller, and one outcome in the end',
      async (at) => {
        await using proxy = await faultProxy({ to: server.url, wire: anyWire })
        const through = storeOf(databaseOnly, { endpoint: proxy.url, work: 500, lease: 500, claimMs: 300 })
        const [charge, mark] = [operation(), fresh()]
        proxy.next('TransactWriteItems', { kind: 'cut', at, reach: 'server' })
        const lost = once(through, charge, async ({ tx }) => writeEffect(tx, mark))
        await expect(lost).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
        await proxy.up()
        await expect
          .poll(async () => (await once(storeOf(databaseOnly), charge, async ({ tx }) => writeEffect(tx, mark))).kind)
          .toBe(at === 'answer' ? 'replayed' : 'ran')
        expect(await count(mark)).toBe(1)
      },
    )
  })

  it('operations that write the same item at once all end, each with its write', async () => {
    const store = storeOf(databaseOnly)
    const mark = fresh()
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => once(store, operation(), async ({ tx }) => writeEffect(tx, mark))),
    )
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(20).fill('ran'))
    expect(await count(mark)).toBe(20)
  })
})
