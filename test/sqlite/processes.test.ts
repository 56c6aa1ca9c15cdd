/** Several processes on one file: one winner for each key, no busy error for anybody, and an event loop that goes on. */
import Database from 'libsql'
import { expect, test } from 'vitest'
import { sleep } from '../../packages/oncekey/src/core/clock.ts'
import { sqlite } from '../../packages/oncekey/src/stores/sqlite/index.ts'
import { scratch } from './scratch.ts'
import { startTogether } from './start-worker.ts'

const file = scratch()
const everything = process.env.ONCEKEY_TEST_ALL === '1'
async function charges(): Promise<string> {
  const path = file()
  const database = new Database(path)
  database.exec('pragma journal_mode = wal; create table charge (id integer primary key, key text not null)')
  database.close()
  return path
}
function count(path: string, key?: string): number {
  const database = new Database(path)
  const row = database.prepare('select count(*) as n from charge where key = ?1 or ?1 is null').get([key ?? null])
  database.close()
  return (row as { n: number }).n
}
const sum = (numbers: readonly (number | undefined)[]): number => numbers.reduce<number>((all, n) => all + (n ?? 0), 0)

// O-18: Dictionarry-Hub/profilarr#519, Effect-TS/effect#7162
test.each(['transaction', 'lease'] as const)(
  '%s mode: four processes claim one key and many of their own, while another holds the file',
  async (mode) => {
    const path = await charges()
    const own = (worker: number) =>
      Array.from({ length: everything ? 200 : 50 }, (_, n) => ({ key: `w${worker}-${n}`, times: 1 }))
    const tasks = [1, 2, 3, 4].map((n) => ({ path, mode, claims: [{ key: 'shared', times: 25 }, ...own(n)] }))
    const ended = await startTogether(tasks, async function hold(allGoOn) {
      const holder = new Database(path)
      holder.exec('begin immediate')
      await sleep(300)
      // Who waits for a lock by standing still sees no timer fire for as long as it is held, and here it is held for that long.
      await allGoOn
      holder.exec('commit')
      holder.close()
    })

    expect(ended.flatMap((done) => done?.errors)).toEqual([])
    const shared = ended.map((done) => done?.answers.shared ?? {})
    expect(sum(shared.map(({ ran }) => ran))).toBe(1)
    expect(sum(shared.flatMap((answers) => Object.values(answers)))).toBe(100)
    expect(count(path, 'shared')).toBe(1)
    expect(count(path)).toBe(everything ? 801 : 201)
  },
  120_000,
)

test.each(['transaction', 'lease'] as const)(
  '%s mode: two processes, a hundred identical requests for each key, one charge for each',
  async (mode) => {
    const path = await charges()
    const keys = Array.from({ length: everything ? 20 : 2 }, (_, n) => `key-${n}`)
    const claims = keys.map((key) => ({ key, times: 50 }))
    const ended = await startTogether([1, 2].map(() => ({ path, mode, claims })))
    expect(ended.flatMap((done) => done?.errors)).toEqual([])
    for (const key of keys) {
      expect(sum(ended.map((done) => done?.answers[key]?.ran))).toBe(1)
      expect(count(path, key)).toBe(1)
    }
  },
  120_000,
)

test('processes that start at once on a new file make its tables once', async () => {
  const path = file()
  const stores = Array.from({ length: 4 }, () => sqlite(path, { driver: Database }))
  await Promise.all(stores.map((store) => store.admin.migrate()))
  await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
  const database = new Database(path)
  expect(database.prepare('select count(*) as n, max(version) as version from oncekey_migration').get()).toMatchObject({
    n: 2,
    version: 2,
  })
  database.close()
})
