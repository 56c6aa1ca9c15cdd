// Starts a server as a process of its own, as a user would, and knows its address from the line that it prints.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Launched extends AsyncDisposable {
  readonly url: string
  /** Resolves when the process has ended, however. */
  readonly ended: Promise<void>
}

const PROGRAMS = { api: '../server.js', naive: './naive.js' } as const

export async function launch(
  name: keyof typeof PROGRAMS,
  settings: Readonly<Record<string, string>>,
): Promise<Launched> {
  const program = fileURLToPath(new URL(PROGRAMS[name], import.meta.url))
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk
  })
  const url = await Promise.race([
    readyLine(child),
    ended.then(() =>
      Promise.reject(
        new Error(
          `the ${name} server ended before it was ready (${child.exitCode ?? child.signalCode}): ${complaint.trim()}`,
        ),
      ),
    ),
  ])
  return {
    url,
    ended,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
    },
  }
}

async function readyLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  for (;;) {
    const [line] = (await once(lines, 'line')) as [string]
    const address = /http:\/\/[\d.]+:\d+/.exec(line)?.[0]
    if (address) return address
  }
}
