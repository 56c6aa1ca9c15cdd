/** Starts other processes on a file, and waits for their end. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { deferred } from '../../packages/oncekey/src/testing/store-contract/deferred.ts'
import { type Done, GOES_ON, READY, type Task } from './task.ts'

export interface Ended {
  readonly signal: NodeJS.Signals | null
  /** Nothing where it was killed. */
  readonly done: Done | undefined
}
export interface Worker {
  /** It waits for `go()`. */
  readonly ready: Promise<void>
  /** Its timers have fired twenty times since it began. */
  readonly goesOn: Promise<void>
  readonly ended: Promise<Ended>
  go(): void
}

export function startWorker(task: Task): Worker {
  const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', worker, JSON.stringify(task)], {
    // A worker that hangs ends with its test, not with the machine.
    timeout: 110_000,
    killSignal: 'SIGKILL',
  })
  const ready = deferred<void>()
  const goesOn = deferred<void>()
  let output = ''
  let complaints = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk
    if (complaints.includes(READY)) ready.resolve()
    if (complaints.includes(GOES_ON)) goesOn.resolve()
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (signal) resolve({ signal, done: undefined })
      else if (code === 0) resolve({ signal, done: JSON.parse(output) as Done })
      else reject(new Error(`the worker ended with ${code}: ${complaints}`))
    })
  })
  return {
    ready: Promise.race([ready.promise, ended.then(() => undefined)]),
    goesOn: goesOn.promise,
    ended,
    go: () => void child.stdin.write('go'),
  }
}

/** All of them begin when the last one is there. */
export async function startTogether(
  tasks: readonly Task[],
  meanwhile: (allGoOn: Promise<unknown>) => Promise<void> = async () => {},
): Promise<readonly (Done | undefined)[]> {
  const workers = tasks.map((task) => startWorker({ ...task, waits: true }))
  await Promise.all(workers.map(({ ready }) => ready))
  const during = meanwhile(Promise.all(workers.map(({ goesOn }) => goesOn)))
  for (const { go } of workers) go()
  await during
  return (await Promise.all(workers.map(({ ended }) => ended))).map(({ done }) => done)
}
