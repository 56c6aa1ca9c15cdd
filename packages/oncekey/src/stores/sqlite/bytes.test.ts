/** What a completed key costs in the file: digests instead of texts, one row in the tree of its own key, no index. */
import { statSync } from 'node:fs'
import Database from 'libsql'
import { expect, test } from 'vitest'
import { type Libsql, scratch } from '../../../../../test/sqlite/scratch.ts'
import { databaseOnly, fillPolicy } from '../../core/policy.ts'
import type { Store, Verdict } from '../../core/store.ts'
import { sqlite } from './index.ts'

const file = scratch()
/** Ids are digests of the same keys each time, so the tree grows the same way and the figure is always the same; 100,000 keys differ from these by a byte. */
const KEYS = process.env.ONCEKEY_TEST_ALL === '1' ? 100_000 : 5_000
/** 45 bytes of JSON behind the envelope of an answer: its version, status 201 and `Content-Type`. */
const receipt = Buffer.from(`\u0002\u0001\u0001{"id":"ch_0123456789abcdef","amount":1999,"ok":1}`)

test.each(['transaction', 'lease'] as const)(
  '%s mode: at most 140 bytes',
  async (mode) => {
    const path = file()
    // Durability and the wait for it are no part of the figure.
    const fast = { driver: Database, setUp: (tx: Libsql) => void tx.exec('pragma synchronous = off') } as const
    const store = (mode === 'lease'
      ? sqlite(path, { ...fast, mode, ...databaseOnly })
      : sqlite(path, fast)) as unknown as Store
    await store.admin.migrate()
    const empty = size(path)
    const how = { policy: fillPolicy({}, store.defaults), repeatable: true }
    const kept = async (): Promise<Verdict> => ({ kind: 'keep', receipt, writes: 'commit' })
    for (let n = 0; n < KEYS; n++)
      await store.attempt({ scope: 'acct_1', key: `order-${n}`, fingerprints: ['body'] }, how, kept)
    await store[Symbol.asyncDispose]()
    const bytes = (size(path) - empty) / KEYS
    console.log(`${mode}: ${bytes.toFixed(1)} bytes per key, ${KEYS} keys`)
    expect(bytes).toBeLessThanOrEqual(140)
  },
  300_000,
)

function size(path: string): number {
  const database = new Database(path)
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
  return statSync(path).size
}
