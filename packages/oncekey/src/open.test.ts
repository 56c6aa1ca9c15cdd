/** A store by its address: the right driver, the right mode, and a clear word where there is neither. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, expectTypeOf, test } from 'vitest'
import { describePostgres, freshSchema } from '../../../test/support/postgres.ts'
import { describeRedis, freshPrefix, redisUrl } from '../../../test/support/redis.ts'
import { once } from './core/once.ts'
import { databaseOnly } from './core/policy.ts'
import { modesOf, openStore } from './open.ts'

const folder = mkdtempSync(join(tmpdir(), 'oncekey-open-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const operation = { scope: 'acct_1', key: 'k', fingerprints: ['body'] as [string] }
const lease = { mode: 'lease', ...databaseOnly } as const

test('memory: has lease mode, and says so when asked for another', async () => {
  await using store = await openStore('memory:', lease)
  expect(await once(store, operation, async ({ fence }) => fence > 0n)).toMatchObject({ kind: 'ran', value: true })
  await expect(openStore('memory:')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    fix: expect.stringContaining('lease'),
  })
  expect(modesOf('memory:')).toEqual(['lease'])
})

test.each([
  ['a path from the root', (file: string) => `sqlite:${file}`],
  ['a path from here', (file: string) => `sqlite:${relative(process.cwd(), file)}`],
  ['a URL', (file: string) => pathToFileURL(file).href.replace('file:', 'sqlite:')],
])('sqlite: takes %s', async (name, urlOf) => {
  const file = join(folder, `${name}.db`)
  {
    await using store = await openStore<{ exec(sql: string): unknown }>(urlOf(file))
    const outcome = await once(store, operation, async ({ tx }) => {
      expectTypeOf(tx).toEqualTypeOf<{ exec(sql: string): unknown }>()
      tx.exec('create table charge (id integer)')
    })
    expect(outcome.kind).toBe('ran')
  }
  await using leased = await openStore(`sqlite:${file}`, lease)
  expect(await once(leased, operation, async () => 0)).toMatchObject({ kind: 'replayed' })
})

test('a key stays bound for as long as `tombstone` says', async () => {
  const options = { retain: 20, tombstone: '1h', schema: 'kept' } as const
  await using store = await openStore(`sqlite:${join(folder, 'tombstone.db')}`, options)
  await once(store, operation, async () => 1)
  await expect.poll(() => once(store, operation, async () => 2)).toMatchObject({ kind: 'not-kept' })
})

test('an answer is kept for as long as `retain` says', async () => {
  await using store = await openStore(`sqlite:${join(folder, 'retain.db')}`, { retain: 20, schema: 'shop' })
  await once(store, operation, async () => 1)
  await expect.poll(() => once(store, operation, async () => 2)).toMatchObject({ kind: 'ran', value: 2 })
})

test.each([
  ['mongodb://user:secret@host', {}],
  ['redis://user:secret@host', {}],
  ['payments.db', {}],
  ['', {}],
  ['constructor:', {}],
  ['sqlite://host/payments.db', {}],
  ['sqlite:', {}],
  ['sqlite::memory:', {}],
  ['sqlite:payments.db', { driver: 'pg' }],
  ['sqlite:payments.db', { driver: 'better-sqlite3' }],
  ['sqlite:payments.db', { mode: 'lease' }],
  ['memory:', { mode: 'lease' }],
  ['dynamodb:oncekey', { mode: 'lease' }],
  ['dynamodb:oncekey', {}],
] as const)('%j %j is INVALID_OPTION, and no secret is told', async (url, options) => {
  const opened = openStore(url, options as { mode?: 'transaction' })
  await expect(opened).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.not.stringContaining('secret') })
})

test('a driver that is not installed is named with what installs it', async () => {
  await expect(openStore('sqlite:payments.db', { driver: 'better-sqlite3' })).rejects.toMatchObject({
    fix: 'npm install better-sqlite3',
  })
})

describePostgres('postgres:', () => {
  const { url, schema } = freshSchema()

  test.each(['pg', 'postgres'] as const)('through %s, in both modes, and nothing stays open', async (driver) => {
    {
      await using store = await openStore(url, { schema, driver })
      await store.admin.migrate()
      const work = async ({ tx }: { tx: unknown }) => tx !== undefined
      expect(await once(store, { ...operation, key: driver }, work)).toMatchObject({ kind: 'ran', value: true })
    }
    await using store = await openStore(url, { schema, driver, ...lease })
    expect(await once(store, { ...operation, key: driver }, async () => 0)).toMatchObject({ kind: 'replayed' })
  })
})

describeRedis('redis: and valkey:', () => {
  const schema = freshPrefix().slice(0, -1)

  test.each(['ioredis', 'redis'] as const)('through %s, under a prefix, and nothing stays open', async (driver) => {
    {
      await using store = await openStore(redisUrl(), { schema, driver, ...lease })
      expect(await once(store, { ...operation, key: driver }, async () => 1)).toMatchObject({ kind: 'ran' })
    }
    await using store = await openStore(redisUrl().replace('redis:', 'valkey:'), { schema, driver, ...lease })
    expect(await once(store, { ...operation, key: driver }, async () => 0)).toMatchObject({
      kind: 'replayed',
      value: 1,
    })
  })
})
