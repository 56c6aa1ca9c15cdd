/** Another process on the same file, as the tests start it: it does what its one argument says and prints what came of it. */
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import Database from 'libsql'
import { once as operate } from '../../../core/once.ts'
import type { Store } from '../../../core/store.ts'
import { sqlite } from '../index.ts'
import type { Libsql } from './scratch.ts'
import { READY } from './start-worker.ts'

export interface Task {
  readonly path: string
  /** Lease mode: how long a claim is honoured without a beat. */
  readonly leaseMs?: number
  readonly mode: 'transaction' | 'lease'
  /** Keys, and how many attempts of each at the same time. */
  readonly claims: readonly { readonly key: string; readonly times: number }[]
  /** The event at which the process ends, as if it had been pulled from the wall. */
  readonly dieAt?: string
  /** Says that it is there, and begins when it is told to. */
  readonly waits?: boolean
}
export interface Done {
  /** For each key, how often which answer came. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly errors: readonly string[]
  /** How often a timer of 5 ms fired in the first second: nothing stood still while it waited for the file. */
  readonly ticks: number
}

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
const second = performance.now() + 1_000
const clock = setInterval(() => {
  if (performance.now() < second) ticks += 1
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
process.stdout.write(JSON.stringify({ answers, errors, ticks } satisfies Done))

async function pay(grant: Both) {
  const tx = grant.tx ?? (await grant.begin?.())
  tx?.prepare('insert into charge (key) values (?)').run(grant.operation.key)
  return 'paid'
}
