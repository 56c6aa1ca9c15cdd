/** Starts another process on a file, and waits for its end. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Done, Task } from './worker.ts'

export interface Ended {
  readonly signal: NodeJS.Signals | null
  /** Nothing where it was killed. */
  readonly done: Done | undefined
}

export function startWorker(task: Task): Promise<Ended> {
  const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', worker, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A worker that hangs ends with its test, not with the machine.
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  let output = ''
  let complaints = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (signal) resolve({ signal, done: undefined })
      else if (code === 0) resolve({ signal, done: JSON.parse(output) as Done })
      else reject(new Error(`the worker ended with ${code}: ${complaints}`))
    })
  })
}
