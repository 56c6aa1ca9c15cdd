// Runs one program to its end for tests of the repository itself, and returns what it said instead of throwing.
import { spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Said {
  readonly code: number | null
  readonly stdout: string
  readonly output: string
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

export function node(args: readonly string[], options: CommandOptions = {}): Promise<Said> {
  return command(process.execPath, args, options)
}

export function command(
  program: string,
  args: readonly string[],
  { cwd = root, env = process.env }: CommandOptions = {},
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let output = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      output += chunk
    })
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, output }))
  })
}

/** A folder that is gone when the test is. Call `dispose` yourself where it outlives one test. */
export function temporaryFolder(dispose: (remove: () => void) => void = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'oncekey-test-')))
  dispose(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
