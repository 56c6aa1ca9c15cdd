/** Changes by hand on DynamoDB Local: each with its audit in one transaction, and what a restore leaves alone. */
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { beforeAll, expect, it } from 'vitest'
import { describeDynamodbLocal } from '../../../../../test/support/dynamodb.ts'
import { once } from '../../core/once.ts'
import { downstreamDoesNot, fillPolicy } from '../../core/policy.ts'
import type { KeyRecord } from '../../core/record.ts'
import { caller } from './client.ts'
import { dynamoDriver } from './driver.ts'
import { dynamodb } from './index.ts'
import { serviceClock } from './service-clock.ts'

let names = 0
const operation = () => ({ scope: 'acct_1', key: `k${++names}`, fingerprints: ['body'] as const })
const by = { who: 'ada', why: 'the bank’s list says so \u0000' } as const

describeDynamodbLocal('changes by hand on DynamoDB Local', (server) => {
  let client: DynamoDBClient
  beforeAll(() => {
    client = server.client()
  })

  async function fresh() {
    const table = server.table()
    const open = () => dynamodb(client, { table, maxSkew: 0, ...downstreamDoesNot })
    const store = open()
    await store.admin.migrate()
    async function audits() {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))
      return Items.filter(({ what }) => what).map(({ what, was, who, why, id }) => [
        ...[what?.S, was?.S, who?.S, why?.S],
        id?.S,
      ])
    }
    async function held(charge = operation()): Promise<KeyRecord> {
      await once(store, charge, async () => 1, { policy: { judge: () => 'hold' } })
      return (await store.admin.find(charge)) as KeyRecord
    }
    return { store, open, audits, held, table }
  }

  it('every change leaves who made it and why, and a refused one leaves nothing', async () => {
    const { store, audits, held } = await fresh()
    const { admin } = store
    const [one, two, three] = [await held(), await held(), await held()]
    expect(await admin.settle(one, { kind: 'finished', receipt: Uint8Array.of(1) }, by)).toBe('done')
    expect(await admin.settle(one, { kind: 'free' }, by)).toMatchObject({ state: 'finished' })
    expect(await admin.settle(two, { kind: 'retry' }, by)).toBe('done')
    expect(await admin.forget(three, by)).toMatchObject({ state: 'unknown' })
    expect(await admin.forget(three, { ...by, force: true })).toBe('done')
    const finished = (await admin.find({ id: one.id })) as KeyRecord
    expect(await admin.erase(finished, by)).toBe('done')
    const noted = [
      ['finished', 'unknown', by.who, by.why, one.id],
      ['retry', 'unknown', by.who, by.why, two.id],
      ['forget', 'unknown', by.who, by.why, three.id],
      ['erase', 'finished', by.who, by.why, one.id],
    ]
    const written = await audits()
    expect(written).toHaveLength(noted.length)
    expect(written).toEqual(expect.arrayContaining(noted))
  })

  it('what was seen of one claim changes nothing of the next', async () => {
    const { store, held } = await fresh()
    const { admin } = store
    const charge = operation()
    const first = await held(charge)
    expect(await admin.settle(first, { kind: 'free' }, by)).toBe('done')
    const second = await held(charge)
    for (const stale of [
      await admin.settle(first, { kind: 'free' }, by),
      await admin.forget(first, { ...by, force: true }),
    ])
      expect(stale).toEqual(second)
    expect(await admin.settle(second, { kind: 'finished', receipt: Uint8Array.of(1) }, by)).toBe('done')
    const answered = (await admin.find(charge)) as KeyRecord
    expect(await admin.erase({ ...answered, expiresAt: new Date(0) }, by)).toEqual(answered)
    expect(await admin.erase(answered, by)).toBe('done')
  })

  it('of two people who settle the same record one does', async () => {
    const { store, audits, held } = await fresh()
    const seen = await held()
    const settled = await Promise.all(
      Array.from({ length: 8 }, () =>
        store.admin.settle(seen, { kind: 'free' }, by).catch((error: Error) => error.name),
      ),
    )
    expect(settled.filter((answer) => answer === 'done')).toHaveLength(1)
    expect(await audits()).toHaveLength(1)
  })

  it('a process that started before a restore refuses to go on at its next sweep (I4)', async () => {
    const { store, open } = await fresh()
    const before = open()
    await once(before, operation(), async () => 1)
    await store.admin.restored({ ...by, onEpochChange: 'refuse' })
    await store.admin.sweep()
    await expect(before.admin.sweep()).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
    expect(await open().restored?.()).toMatchObject({ onEpochChange: 'refuse' })
  })

  it('a claim that is made while the restore is being written down is none of the restored ones', async () => {
    const { open, audits, table } = await fresh()
    let finish = () => {}
    let later: Promise<unknown> | undefined
    const call = caller(client, serviceClock())
    const restoring = dynamoDriver(
      {
        table,
        at: () => ({ now: Date.now(), skewMs: 0 }),
        async call(name, input) {
          if (name === 'Scan' && later === undefined)
            await new Promise<void>((begun) => {
              const gate = new Promise<void>((resolve) => {
                finish = resolve
              })
              later = once(open(), operation(), () => {
                begun()
                return gate
              })
            })
          return call(name, input)
        },
      },
      { retainMs: 60_000 },
    )
    expect(await restoring.admin.restored({ ...by, onEpochChange: 'run' })).toEqual({ unknown: 0 })
    expect(await restoring.admin.stats()).toMatchObject({ running: 1, unknown: 0 })
    finish()
    expect(await later).toMatchObject({ kind: 'ran', fate: 'kept' })
    await restoring.admin.reconciled(by)
    expect(new Set((await audits()).map(([what]) => what))).toEqual(new Set(['reconciled', 'restored']))
  })

  it('lists, counts and sweeps go over as many pages as there are', async () => {
    const { store } = await fresh()
    // A page has at most 1 MB: these are two.
    for (let n = 0; n < 5; n++) {
      const receipt = crypto.getRandomValues(new Uint8Array(60_000))
      const how = { policy: fillPolicy({}, store.defaults), repeatable: true }
      const all = Uint8Array.from({ length: 300_000 }, (_, at) => receipt[at % receipt.length] as number)
      await store.attempt(operation(), how, async () => ({ kind: 'keep', receipt: all, writes: 'commit' }))
    }
    expect(await store.admin.stats()).toMatchObject({ finished: 5 })
    const ids: string[] = []
    for await (const { id } of store.admin.list({ limit: 3 })) ids.push(id)
    for await (const { id } of store.admin.list({ after: ids.at(-1) as string })) ids.push(id)
    expect(ids).toHaveLength(5)
    expect(ids).toEqual(ids.toSorted())
    expect(await store.admin.sweep()).toEqual({ removed: 0, expired: 0, abandoned: 0, complete: true })
  })
})
