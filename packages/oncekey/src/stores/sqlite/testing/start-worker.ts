/** Starts other processes on a file, and waits for their end. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { deferred } from '../../../testing/store-contract/deferred.ts'
import type { Done, Task } from './worker.ts'

export interface Ended {
  readonly signal: NodeJS.Signals | null
  /** Nothing where it was killed. */
  readonly done: Done | undefined
}
export interface Worker {
  /** It waits for `go()`. */
  readonly ready: Promise<void>
  readonly ended: Promise<Ended>
  go(): void
}
export const READY = 'ready\n'

export function startWorker(task: Task): Worker {
  const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', worker, JSON.stringify(task)], {
    // A worker that hangs ends with its test, not with the machine.
    timeout: 110_000,
    killSignal: 'SIGKILL',
  })
  const ready = deferred<void>()
  const ended = deferred<Ended>()
  let output = ''
  let complaints = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk
    if (complaints.startsWith(READY)) ready.resolve()
  })
  child.once('error', ended.reject)
  child.once('close', (code, signal) => {
    if (signal) ended.resolve({ signal, done: undefined })
    else if (code === 0) ended.resolve({ signal, done: JSON.parse(output) as Done })
    else ended.reject(new Error(`the worker ended with ${code}: ${complaints}`))
  })
  return {
    ready: Promise.race([ready.promise, ended.promise.then(() => undefined)]),
    ended: ended.promise,
    go: () => void child.stdin.write('go'),
  }
}

/** All of them begin when the last one is there. */
export async function startTogether(
  tasks: readonly Task[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<readonly (Done | undefined)[]> {
  const workers = tasks.map((task) => startWorker({ ...task, waits: true }))
  await Promise.all(workers.map(({ ready }) => ready))
  const during = meanwhile()
  for (const { go } of workers) go()
  await during
  return (await Promise.all(workers.map(({ ended }) => ended))).map(({ done }) => done)
}
