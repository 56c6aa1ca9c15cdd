/** Two processes that sweep one file: one does, the other is told; and one that is killed is gone on from where it was. */
import { spawn } from 'node:child_process'
import { once as event } from 'node:events'
import { fileURLToPath } from 'node:url'
import Database from 'libsql'
import { expect, test } from 'vitest'
import { sqlite } from '../../packages/oncekey/src/stores/sqlite/index.ts'
import { scratch } from './scratch.ts'

const file = scratch()
const ELSEWHERE = { removed: 0, expired: 0, abandoned: 0, complete: false, elsewhere: true }

test('one process sweeps at a time, and its death is waited for no longer than its claim', async () => {
  const path = file()
  await using store = sqlite(path, { driver: Database, durability: 'normal' })
  await store.admin.migrate()
  const outside = new Database(path)
  outside.exec(`with recursive n (n) as (select 1 union all select n + 1 from n where n < 1000)
    insert into oncekey_record (k, fingerprint, expires_at, state, body)
    select randomblob(16), randomblob(16), 1, 4, x'01' from n`)
  const count = () => (outside.prepare('select count(*) as n from oncekey_record').get() as { n: number }).n

  const program = fileURLToPath(new URL('sweeper.ts', import.meta.url))
  const other = spawn(process.execPath, ['--import', 'tsx', program, path, '100', '1000'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 60_000,
  })
  const ended = event(other, 'exit')
  await expect.poll(count, { timeout: 20_000, interval: 20 }).toBeLessThanOrEqual(900)
  expect(await store.admin.sweep()).toEqual(ELSEWHERE)
  other.kill('SIGKILL')
  await ended
  const left = count()
  expect(left).toBeGreaterThan(0)
  // Nobody knows yet that it is dead.
  expect(await store.admin.sweep()).toEqual(ELSEWHERE)
  outside.exec('update oncekey_meta set sweeper_until = 1')
  expect(await store.admin.sweep()).toEqual({ removed: left, expired: 0, abandoned: 0, complete: true })
  const meta = outside.prepare('select sweeper, sweeper_until, sweep_place from oncekey_meta').get()
  expect(meta).toMatchObject({ sweeper: null, sweeper_until: null, sweep_place: null })
  outside.close()
})
