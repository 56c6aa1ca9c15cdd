// Whatever ends a run, its servers end too: at once where the run can still act, at the next run where it was killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { accepts, identityOf, isAlive } from '../scripts/services/process.mjs'
import { reap, startedIn, stateFolder } from '../scripts/services/run.mjs'
import { node, root } from './support/command.ts'

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends the program, then its servers', async (signal) => {
  const held = await hold()
  held.child.kill(signal)
  expect(await held.ended).toBe(signal === 'SIGTERM' ? 143 : 130)
  expect(await accepts(held.port)).toBe(false)
  expect(held.started.filter(isAlive)).toEqual([])
  expect(existsSync(held.folder)).toBe(false)
})

it('when npm is ended and its shell keeps the signal to itself, the program and its servers end all the same', async () => {
  const held = await hold('shell')
  held.child.kill('SIGTERM')
  await held.ended
  await vi.waitFor(() => expect(existsSync(held.folder)).toBe(false), 10_000)
  expect(held.started.filter(isAlive)).toEqual([])
})

it('what a killed run left is ended by the next one, the program included', async () => {
  const held = await hold()
  held.child.kill('SIGKILL')
  await held.ended
  expect(await accepts(held.port)).toBe(true)
  await reap()
  expect(await accepts(held.port)).toBe(false)
  expect(held.started.filter(isAlive)).toEqual([])
  expect(existsSync(held.folder)).toBe(false)
})

it('a run that still lives is left alone', async () => {
  const held = await hold()
  await reap()
  expect(await accepts(held.port)).toBe(true)
  held.child.kill('SIGTERM')
  await held.ended
})

it('a pid that was given to another process since is not ended', async () => {
  const stranger = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'])
  onTestFinished(() => void stranger.kill('SIGKILL'))
  const folder = join(stateFolder(), 'run-999999999-gone')
  mkdirSync(folder)
  const pid = stranger.pid ?? 0
  const record = { name: 'postgres', pid, identity: 'of another', signals: ['SIGKILL'], at: 0 }
  writeFileSync(join(folder, 'postgres.pid.json'), JSON.stringify(record))
  await reap()
  expect(existsSync(folder)).toBe(false)
  expect(identityOf(pid)).toBeDefined()
})

it('with CI=true a missing service is a failure', async () => {
  const script = `import { start } from ${JSON.stringify(join(root, 'scripts/services/index.mjs'))}
    const absent = { name: 'absent', variable: 'ONCEKEY_TEST_ABSENT', start: async () => ({ missing: 'not here' }) }
    console.log(JSON.stringify(await start({}, [absent])))`
  const args = ['--input-type=module', '--eval', script]
  const inCi = await node(args, { env: { ...process.env, CI: 'true' } })
  expect(inCi.code).not.toBe(0)
  expect(inCi.output).toContain('CI=true and absent is missing: not here')
  const outside = await node(args, { env: { ...process.env, CI: '' } })
  expect(JSON.parse(outside.stdout)).toEqual({ urls: {}, missing: { ONCEKEY_TEST_ABSENT: 'not here' } })
})

interface Held {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  readonly port: number
  readonly folder: string
  readonly started: ReturnType<typeof startedIn>
}

async function hold(through: 'node' | 'shell' = 'node'): Promise<Held> {
  const program = join(root, 'test/support/hold-services.mjs')
  // The second command keeps the shell from becoming node.
  const [command, args] =
    through === 'node' ? [process.execPath, [program]] : ['sh', ['-c', `"${process.execPath}" "${program}"; true`]]
  const env = { ...process.env, npm_lifecycle_event: 'test' }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [pid, url] = await new Promise<string[]>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim().split(' ')))
    child.once('exit', () => reject(new Error('It ended before it said where')))
  })
  const folder = join(stateFolder(), `run-${pid}-${identityOf(Number(pid))}`)
  const started = startedIn(folder)
  expect(started.map(({ name }) => name).sort()).toEqual(['holder', 'postgres'])
  expect(started.every(isAlive)).toBe(true)
  return { child, ended, folder, started, port: Number(new URL(url ?? '').port) }
}
