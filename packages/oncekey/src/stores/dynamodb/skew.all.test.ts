/** S4 and S6: callers whose clocks disagree, the room that an end is given, and DynamoDB's own expiry, on dynalite. */
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeDynalite } from '../../../../../test/support/dynamodb.ts'
import { repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { judge } from '../../core/record.ts'
import type { Held, Owned } from '../../core/store.ts'
import { type Call, caller } from './client.ts'
import { DEFINITION } from './definition.ts'
import { dynamoDriver } from './driver.ts'
import { dynamodb } from './index.ts'
import { serviceClock } from './service-clock.ts'
import type { Ground } from './table.ts'

const SKEW = 5_000
const RECEIPT = { receipt: Uint8Array.of(1) }

describeDynalite('callers without a common clock', (server) => {
  const table = server.table()
  let client: DynamoDBClient
  let now = 1_800_000_000_000

  /** A process whose clock is off by so much. */
  function process(off = 0, vary: (call: Call) => Call = (call) => call) {
    const ground: Ground = {
      call: vary(caller(client, serviceClock())),
      table,
      at: () => ({ now: now + off, skewMs: SKEW }),
    }
    const driver = dynamoDriver(ground, { retainMs: 60_000 })
    return {
      ...driver,
      async won(owned: Owned): Promise<Held & { readonly fresh?: boolean | undefined }> {
        const claimed = await driver.claim(owned)
        if (claimed.kind !== 'won') throw new Error(`not won: ${judge(claimed, owned.prints).kind}`)
        return { ...owned, fence: claimed.fence, fresh: claimed.fresh }
      },
      async told(owned: Owned): Promise<string> {
        const claimed = await driver.claim(owned)
        return claimed.kind === 'won' ? 'won' : judge(claimed, owned.prints, owned.token).kind
      },
    }
  }
  async function item(id: string) {
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { k: { S: id } } }))
    return Item
  }

  beforeAll(async () => {
    client = server.client()
    await process().admin.migrate()
  })

  it('migrating makes the table that the definition describes, again and again, and from two processes', async () => {
    await Promise.all([process().admin.migrate(), process().admin.migrate()])
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
    expect(Table).toMatchObject({
      KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }],
    })
  })

  describe('an end is past once it is past on every clock', () => {
    const lease = { policy: { lease: '30s', retain: '60s' } } as const

    it.each([
      [30_000 - 1, 'busy'],
      [30_000, 'busy'],
      [30_000 + SKEW - 1, 'busy'],
      [30_000 + SKEW, 'won'],
    ])('of a lease of 30 s, %d ms after the claim: %s', async (passed, told) => {
      const owned = wanted(lease)
      await process().won(owned)
      now += passed
      expect(await process().told(repeat(owned))).toBe(told)
    })

    it.each([
      [60_000 + SKEW - 1, 'finished'],
      [60_000 + SKEW, 'won'],
    ])('of an answer kept for 60 s, %d ms after its finish: %s', async (passed, told) => {
      const held = await process().won(wanted(lease))
      expect(await process().complete(held, RECEIPT)).toBe('done')
      now += passed
      expect(await process().told(repeat(held))).toBe(told)
    })

    it.each([
      ['takeover', 24 * 3_600_000 - SKEW - 1, 'won'],
      ['takeover', 24 * 3_600_000 - SKEW, 'unknown'],
    ] as const)(
      'of what the downstream remembers, on the first clock: %s, %d ms after the claim: %s',
      async (onAbandoned, passed, told) => {
        const owned = wanted({ policy: { after: { onFailure: 'retry', onAbandoned, dedupesFor: '24h' } } })
        await process().won(owned)
        now += passed
        expect(await process().told(repeat(owned))).toBe(told)
      },
    )
  })

  it.each([4_999, 2_500, -2_500, -4_999])(
    'a caller that is %d ms off takes no lease that is honoured, and nobody loses a fence',
    async (off) => {
      const [right, wrong] = [process(), process(off)]
      const owned = wanted({ policy: { lease: '30s' } })
      const first = await right.won(owned)
      now += 30_000 - 1
      expect(await wrong.told(repeat(owned))).toBe('busy')
      expect(await right.renew(first)).toBe('done')
      now += 30_000 - 1
      expect(await wrong.told(repeat(owned))).toBe('busy')
      now += 2 * SKEW
      const taken = await wrong.won(repeat(owned))
      expect(taken.fence).toBeGreaterThan(first.fence)
      expect(await right.complete(first, RECEIPT)).not.toBe('done')
      expect(await wrong.complete(taken, RECEIPT)).toBe('done')
    },
  )

  it('a freed key is free for everybody at once, and its next fence is greater on any clock (S3)', async () => {
    const owned = wanted()
    let last = 0n
    for (const off of [4_000, 0, -900, 2_000, -900]) {
      const held = await process(off).won(repeat(owned))
      expect(held.fence).toBeGreaterThan(last)
      expect(held.fresh).toBe(true)
      last = held.fence
      expect(await process(off).release(held, 'free')).toBe('done')
      expect(await process(-900).admin.find({ id: owned.id })).toBeUndefined()
      now += 100
    }
  })

  it('a freed key’s item goes once its fence is past on every clock (S3)', async () => {
    const early = await process().won(wanted())
    await process().release(early, 'free')
    expect(await item(early.id)).toBeDefined()
    now += 2 * SKEW
    const late = await process().won(wanted())
    now += SKEW + 1
    await process().release(late, 'free')
    expect(await item(late.id)).toBeUndefined()
    expect((await process().admin.sweep()).removed).toBeGreaterThan(0)
    expect(await item(early.id)).toBeUndefined()
  })

  describe('DynamoDB’s own expiry', () => {
    const policy = { retain: '60s', lease: '30s', tombstone: '60s' } as const
    const ttl = async (id: string) => Number((await item(id))?.ttl?.N ?? Number.NaN) * 1_000

    it('is set past the last end of what is finished, also of its tombstone', async () => {
      const held = await process().won(wanted({ policy }))
      await process().complete(held, RECEIPT)
      expect(await ttl(held.id)).toBeGreaterThanOrEqual(now + 120_000 + SKEW)
      expect(await ttl(held.id)).toBeLessThanOrEqual(now + 120_000 + SKEW + 2_000)
    })

    it('is set past the last end of what is open, which is never before the downstream forgets', async () => {
      const after = { onFailure: 'retry', onAbandoned: 'takeover', dedupesFor: '1h' } as const
      const held = await process().won(wanted({ policy: { ...policy, after } }))
      now += 1_000
      // The promise of the first claim, and not what the next caller's policy says.
      const next = await process().won({ ...(await reopened(held)), token: 'f'.repeat(32) })
      await reopened(next)
      expect(await ttl(held.id)).toBeGreaterThanOrEqual(now - 1_000 + 3_600_000 + SKEW)
      expect((await process().admin.find({ id: held.id }))?.expiresAt?.getTime()).toBe(now - 1_000 + 3_600_000)
    })

    it('is never set on what is running or unknown, whatever it was before (S6)', async () => {
      const held = await process().won(wanted({ policy }))
      expect(await ttl(held.id)).toBeNaN()
      await process().hold(held, 'nobody knows')
      expect(await ttl(held.id)).toBeNaN()
      await reopened(held)
      expect(await ttl(held.id)).not.toBeNaN()
      await process().renew(held)
      expect(await ttl(held.id)).toBeNaN()
      await reopened(held)
      const taker = await process().won(repeat(held))
      expect(await ttl(held.id)).toBeNaN()
      now += 30_000 + SKEW
      await process().admin.sweep()
      await process().hold(taker, 'the store is slow')
      expect(await ttl(held.id)).toBeNaN()
    })

    async function reopened(held: Held): Promise<Owned> {
      expect(await process().release(held, 'retry')).toBe('done')
      return repeat(held, { retain: '60s' })
    }
  })

  it('a record that outlives its end in the table is absent all the same', async () => {
    const held = await process().won(wanted({ policy: { retain: '60s' } }))
    await process().complete(held, RECEIPT)
    now += 48 * 3_600_000
    expect(await item(held.id)).toBeDefined()
    expect(await process().admin.find({ id: held.id })).toBeUndefined()
    expect(await process().told(repeat({ ...held, prints: ['another'.padEnd(32, '0')] }))).toBe('won')
  })

  it('a sweeper that dies is followed by another after a minute, from where it was', async () => {
    const ended = { policy: { retain: 1 } } as const
    for (let n = 0; n < 10; n++) await process().complete(await process().won(wanted(ended)), RECEIPT)
    now += SKEW + 1
    let pages = 0
    const dying = process(0, (call) => async (name, input) => {
      if (name === 'Scan') pages += 1
      if (pages > 2) throw new Error('planted: this process is dead')
      return call(name, input)
    })
    await expect(dying.admin.sweep({ batch: 3, pauseMs: 0 })).rejects.toThrow('planted')
    now += 59_000
    expect(await process().admin.sweep()).toMatchObject({ removed: 0, elsewhere: true, complete: false })
    now += 1_000 + SKEW + 1
    const place = (await item('meta'))?.sweep_place?.S
    expect(place).toBeDefined()
    let from: unknown
    const next = process(0, (call) => async (name, input) => {
      if (name === 'Scan' && 'ExclusiveStartKey' in input) from ??= input.ExclusiveStartKey?.k?.S
      return call(name, input)
    })
    expect(await next.admin.sweep()).toMatchObject({ complete: true })
    expect(from).toBe(place)
    expect((await process().admin.sweep()).removed).toBeLessThan(10)
  })

  it('a sweeper that was gone for too long stops when it finds another at work', async () => {
    for (let n = 0; n < 4; n++) await process().won(wanted())
    const slow = process(0, (call) => async (name, input) => {
      const answer = await call(name, input)
      if (name === 'Scan') {
        now += 60_000 + 2 * SKEW
        const other = process().admin.sweep({ batch: 1, pauseMs: 60_000, signal: AbortSignal.timeout(200) })
        await expect.poll(async () => (await item('meta'))?.sweeper?.S).not.toBe(undefined)
        await other
      }
      return answer
    })
    expect(await slow.admin.sweep({ batch: 2, pauseMs: 0 })).toMatchObject({ complete: false })
  })

  it('a table of a newer release, or of another scheme, is refused before anything runs (I4)', async () => {
    for (const [attribute, code] of [
      ['reader', 'SCHEMA_TOO_NEW'],
      ['scheme', 'SCHEMA_MISMATCH'],
    ] as const) {
      const foreign = server.table()
      await dynamodb(client, { table: foreign, ...databaseOnly }).admin.migrate()
      await client.send(
        new UpdateItemCommand({
          TableName: foreign,
          Key: { k: { S: 'meta' } },
          UpdateExpression: 'SET #a = :two',
          ExpressionAttributeNames: { '#a': attribute },
          ExpressionAttributeValues: { ':two': { N: '2' } },
        }),
      )
      await using store = dynamodb(client, { table: foreign, ...databaseOnly })
      await expect(once(store, operation(), async () => 1)).rejects.toMatchObject({ code })
    }
  })

  it('a table that a template made needs no more than that', async () => {
    const made = server.table()
    await client.send(new CreateTableCommand({ ...DEFINITION, ...writable(DEFINITION), TableName: made }))
    await expect.poll(async () => statusOf(made)).toBe('ACTIVE')
    await using store = dynamodb(client, { table: made, ...databaseOnly })
    const both = await Promise.all([1, 2].map(() => once(store, operation(), async () => 1)))
    expect(both.map(({ kind }) => kind)).toEqual(['ran', 'ran'])
  })

  it('a table that is not there is SCHEMA_MISSING, and an empty name INVALID_OPTION', async () => {
    await using store = dynamodb(client, { table: server.table(), ...databaseOnly })
    await expect(once(store, operation(), async () => 1)).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    expect(() => dynamodb(client, { table: '', ...databaseOnly })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })

  async function statusOf(name: string) {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus
  }
})

let names = 0
const operation = () => ({ scope: 'acct_1', key: `k${++names}`, fingerprints: ['body'] as const })

function writable({ AttributeDefinitions, KeySchema }: typeof DEFINITION) {
  return { AttributeDefinitions: [...AttributeDefinitions], KeySchema: [...KeySchema] }
}
