/** Another process on the same file, as the tests start it: it does what its one argument says and prints what came of it. */
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import Database from 'libsql'
import { once as operate } from '../../packages/oncekey/src/core/once.ts'
import type { Store } from '../../packages/oncekey/src/core/store.ts'
import { sqlite } from '../../packages/oncekey/src/stores/sqlite/index.ts'
import type { Libsql } from './scratch.ts'
import { type Done, GOES_ON, READY, type Task } from './task.ts'

const task = JSON.parse(process.argv[2] ?? '') as Task
const options = { driver: Database, durability: 'normal', lockMs: '60s' } as const
const store = (task.mode === 'lease'
  ? sqlite(task.path, {
      ...options,
      mode: 'lease',
      onFailure: 'free',
      onAbandoned: 'takeover',
      lease: task.leaseMs ?? 30_000,
    })
  : sqlite(task.path, options)) as unknown as Store<Both>
type Both = { tx?: Libsql; begin?: () => Promise<Libsql> } & Parameters<Parameters<Store['attempt']>[2]>[0]

if (task.dieAt) channel(`oncekey:${task.dieAt}`).subscribe(() => process.kill(process.pid, 'SIGKILL'))
if (task.waits) {
  process.stderr.write(READY)
  await once(process.stdin, 'data')
  process.stdin.destroy()
}

let ticks = 0
const clock = setInterval(() => {
  if (++ticks === 20) process.stderr.write(GOES_ON)
}, 5)
const answers: Record<string, Record<string, number>> = {}
const errors: string[] = []
await Promise.all(
  task.claims.flatMap(({ key, times }) =>
    Array.from({ length: times }, async () => {
      try {
        const { kind } = await operate(store, { scope: 'acct_1', key, fingerprints: ['body'] }, pay)
        const counts = answers[key] ?? {}
        answers[key] = counts
        counts[kind] = (counts[kind] ?? 0) + 1
      } catch (error) {
        errors.push(String(error))
      }
    }),
  ),
)
clearInterval(clock)
await store[Symbol.asyncDispose]()
process.stdout.write(JSON.stringify({ answers, errors } satisfies Done))

async function pay(grant: Both) {
  const tx = grant.tx ?? (await grant.begin?.())
  tx?.prepare('insert into charge (key) values (?)').run(grant.operation.key)
  return 'paid'
}
