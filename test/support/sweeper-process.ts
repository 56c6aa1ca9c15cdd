// A process of its own that sweeps, to be killed while it does.
import { type ChildProcess, spawn } from 'node:child_process'
import { once as event } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Sweeping {
  readonly url: string
  readonly schema: string
  readonly batch: number
  readonly pauseMs: number
}

export interface SweeperProcess extends AsyncDisposable {
  /** As the kernel does it: nothing of the process runs any more. */
  kill(): Promise<void>
}

export async function sweeperProcess({ url, schema, batch, pauseMs }: Sweeping): Promise<SweeperProcess> {
  const script = fileURLToPath(new URL('sweeper-program.ts', import.meta.url))
  const args = ['--import', 'tsx', script, url, schema, String(batch), String(pauseMs)]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = event(child, 'exit')
  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await exited
  }
  return { kill, [Symbol.asyncDispose]: kill }
}
