/** I4: records of another build, another life or no life at all are not touched; and what changes by hand is written down. */
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeRedis, freshPrefix, redisClient, removeKeys } from '../../../../../test/support/redis.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { databaseOnly } from '../../core/policy.ts'
import { redis } from './index.ts'

const operation = (key: string) => ({ scope: 's', key, fingerprints: ['f'] as [string] })
const by = { who: 'ada', why: 'looked it up' }

describeRedis('the meta key of the records', () => {
  const prefix = freshPrefix()
  let client: Redis
  const open = () => redis(client, { prefix, ...databaseOnly })
  const refused = (run: Promise<unknown>) =>
    run.then(
      () => 'nothing',
      (error: unknown) => (isOncekeyError(error) ? error.code : String(error)),
    )

  beforeAll(() => {
    client = redisClient()
  })
  beforeEach(() => removeKeys(client, prefix))
  afterAll(() => client.disconnect())

  it('is made by the first use, and by `migrate`, once', async () => {
    await open().admin.migrate()
    const made = await client.hgetall(`${prefix}meta`)
    expect(made).toMatchObject({ identity_scheme: '1', min_reader: '1' })
    await once(open(), operation('k'), async () => 1)
    await open().admin.migrate()
    expect(await client.hgetall(`${prefix}meta`)).toEqual(made)
  })

  it.each([
    ['identity_scheme', '2', 'SCHEMA_MISMATCH'],
    ['min_reader', '2', 'SCHEMA_TOO_NEW'],
  ])('refuses to run where %s is %s', async (field, value, code) => {
    await open().admin.migrate()
    await client.hset(`${prefix}meta`, field, value)
    const work = async () => expect.fail('ran')
    expect(await refused(once(open(), operation('k'), work))).toBe(code)
    expect(await refused(open().admin.migrate())).toBe(code)
  })

  it('a process whose records were flushed, or told to be restored, refuses at its next sweep', async () => {
    const [flushed, told, teller] = [open(), open(), open()]
    for (const store of [flushed, told, teller]) await store.admin.sweep()
    await teller.admin.restored({ ...by, onEpochChange: 'run' })
    expect(await refused(told.admin.sweep())).toBe('SCHEMA_MISMATCH')
    expect(await teller.admin.sweep()).toMatchObject({ complete: true })
    await client.del(`${prefix}meta`)
    expect(await refused(teller.admin.sweep())).toBe('SCHEMA_MISMATCH')
    expect(await client.exists(`${prefix}meta`)).toBe(0)
  })

  it('what was changed by hand is in the audit, and what was refused is not', async () => {
    const store = open()
    await once(store, operation('k'), async () => 1)
    const seen = await store.admin.find(operation('k'))
    if (!seen) return expect.fail('no record')
    expect(await store.admin.erase(seen, by)).toBe('done')
    const erased = await store.admin.find(operation('k'))
    expect(erased).toMatchObject({ state: 'finished', why: 'erased' })
    if (!erased) return expect.fail('no record')
    // The answer that this operator saw is not the one that stands there.
    const moved = { ...erased, expiresAt: new Date(0) }
    expect(await store.admin.forget(moved, by)).toEqual(erased)
    expect(await store.admin.forget(erased, by)).toBe('done')
    const entries = (await client.xrange(`${prefix}audit`, '-', '+')).map(([, fields]) => fields)
    expect(entries).toEqual([
      ['what', 'erase', 'id', seen.id, 'was', 'finished', 'who', 'ada', 'why', 'looked it up'],
      ['what', 'forget', 'id', seen.id, 'was', 'finished', 'who', 'ada', 'why', 'looked it up'],
    ])
  })

  it('a sweeper that vanished makes way when its claim has ended, and the next goes on from its place', async () => {
    const store = open()
    for (let n = 0; n < 50; n++) await once(store, operation(`k${n}`), async () => n)
    expect(await store.admin.sweep({ batch: 5, limit: 5 })).toMatchObject({ complete: false })
    const place = await client.hget(`${prefix}meta`, 'sweep_place')
    expect(place).toMatch(/^[1-9]\d* /)
    await client.hset(`${prefix}meta`, 'sweeper', 'gone', 'sweeper_until', Date.now() + 60_000)
    expect(await store.admin.sweep()).toMatchObject({ elsewhere: true, complete: false })
    expect(await client.hget(`${prefix}meta`, 'sweep_place')).toBe(place)
    await client.hset(`${prefix}meta`, 'sweeper_until', Date.now() - 1)
    expect(await store.admin.sweep()).toMatchObject({ complete: true })
    expect(await client.hget(`${prefix}meta`, 'sweep_place')).toBe('')
  })

  it('a key lives as long as its record and a minute; one that runs or is unknown has no end (S6)', async () => {
    const store = redis(client, { prefix, ...databaseOnly, retain: '1h' })
    const keys = async () => (await client.keys(`${prefix}*`)).filter((key) => !/(meta|audit)$/.test(key))
    await once(store, operation('k'), async () => {
      const [running] = await keys()
      expect(await client.pttl(running ?? '')).toBe(-1)
    })
    const [finished] = await keys()
    const left = await client.pttl(finished ?? '')
    expect(left).toBeGreaterThan(3_600_000)
    expect(left).toBeLessThanOrEqual(3_660_000)
  })

  it('keys of others, and of stores whose prefix begins with ours, are neither listed nor swept', async () => {
    const store = open()
    const nested = redis(client, { prefix: `${prefix}b:`, ...databaseOnly })
    await once(nested, operation('k'), async () => 1)
    await client.set(`${prefix}something`, 'else')
    await once(store, operation('k'), async () => 1)
    expect(await store.admin.stats()).toMatchObject({ finished: 1 })
    expect(await store.admin.sweep()).toMatchObject({ removed: 0, complete: true })
    expect(await client.get(`${prefix}something`)).toBe('else')
  })

  it('a client with a key prefix of its own lists and sweeps what is its', async () => {
    const prefixed = redisClient(undefined, { keyPrefix: prefix })
    try {
      const store = redis(prefixed, { ...databaseOnly, retain: 1 })
      await once(store, operation('k'), async () => 1)
      expect(await store.admin.sweep()).toMatchObject({ removed: 1 })
      expect(await client.exists(`${prefix}oncekey:meta`)).toBe(1)
    } finally {
      prefixed.disconnect()
    }
  })

  it('a client that pipelines by itself is served like any other', async () => {
    const pipelining = redisClient(undefined, { enableAutoPipelining: true })
    try {
      const store = redis(pipelining, { prefix, ...databaseOnly })
      const all = Array.from({ length: 30 }, (_, n) => once(store, operation(`k${n % 10}`), async () => n))
      const kinds = (await Promise.all(all)).map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'ran')).toHaveLength(10)
      expect(await store.admin.stats()).toMatchObject({ finished: 10 })
    } finally {
      pipelining.disconnect()
    }
  })
})
