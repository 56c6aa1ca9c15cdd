// One run owns a folder under the OS temp folder: what it started is written there, so that a later run can end it.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { identityOf, stopAll, stopNow } from './process.mjs'

/**
 * @typedef {import('./process.mjs').Started} Started
 * @typedef {import('./account.mjs').Account} Account
 * @typedef {{ readonly account?: Account | undefined, readonly env?: NodeJS.ProcessEnv, readonly signals?: readonly NodeJS.Signals[],
 *   readonly stdio?: 'inherit' | 'log' }} LaunchOptions
 * @typedef {{ readonly pid: number, readonly log: string, readonly ended: Promise<number> }} Launched
 * @typedef {{ readonly directory: string, launch(name: string, command: string, args: readonly string[], options?: LaunchOptions): Launched,
 *   stop(): Promise<number>, stopNow(): void }} Run
 */

export const checkout = realpathSync(fileURLToPath(new URL('../../', import.meta.url)))

// The dev services that `services.mjs up` leaves running belong to no process: only `down` ends them.
const kept = 'kept'

/** The folder of this checkout: two checkouts, users or containers that share a temp folder never share state. */
export function stateFolder() {
  const user = process.getuid?.() ?? 0
  const hash = createHash('sha256').update(`${hostname()}\0${checkout}\0${user}`).digest('hex').slice(0, 12)
  const folder = join(realpathSync(tmpdir()), `oncekey-${hash}`)
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const found = lstatSync(folder)
  // The name can be foreseen, so somebody else may have made it first.
  if (!found.isDirectory() || found.uid !== user) throw new Error(`${folder} is not a folder of ours: remove it`)
  chmodSync(folder, 0o711)
  return folder
}

/** @returns {Run} what this process starts, ended when it ends; `keep` leaves it running until `down`. */
export function openRun({ keep = false } = {}) {
  const directory = join(stateFolder(), keep ? kept : `run-${process.pid}-${identityOf(process.pid)}`)
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  return {
    directory,
    launch: (name, command, args, options = {}) => launch(directory, name, command, args, options),
    stop: () => end(directory),
    stopNow: () => {
      for (const started of startedIn(directory)) stopNow(started)
      try {
        rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
      } catch {
        // A server still writes while it ends: the next run takes its folder away.
      }
    },
  }
}

export const keptFolder = () => join(stateFolder(), kept)

/** Ends what runs left behind when they were killed. Returns how many processes that were. */
export async function reap() {
  let ended = 0
  for (const name of readdirSync(stateFolder())) {
    const owner = /^run-(\d+)-(\w+)$/.exec(name)
    if (owner === null || identityOf(Number(owner[1])) === owner[2]) continue
    ended += await end(join(stateFolder(), name))
  }
  return ended
}

/** @param {string} directory */
export async function end(directory) {
  const ended = await stopAll(startedIn(directory))
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  return ended
}

/** @param {string} directory @returns {Started[]} newest first: a pooler goes before its database */
export function startedIn(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => name.endsWith('.pid.json'))
    .flatMap((name) => parse(join(directory, name)))
    .sort((a, b) => b.at - a.at)
}

/**
 * @param {string} directory @param {string} name @param {string} command @param {readonly string[]} args
 * @param {LaunchOptions} options @returns {Launched}
 */
function launch(
  directory,
  name,
  command,
  args,
  { account, env = process.env, signals = ['SIGTERM', 'SIGKILL'], stdio = 'log' },
) {
  const log = join(directory, `${name}.log`)
  const output = stdio === 'log' ? openSync(log, 'a') : undefined
  const child = spawn(command, args, {
    cwd: stdio === 'log' ? directory : checkout,
    env,
    stdio: output === undefined ? 'inherit' : ['ignore', output, output],
    // A group of its own: Ctrl-C in the terminal must reach the tests before it reaches their database.
    detached: output !== undefined,
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  })
  /** @type {Promise<number>} */
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
  ended.catch(() => {})
  if (output !== undefined) closeSync(output)
  const pid = child.pid
  if (pid === undefined) return { pid: 0, log, ended }
  /** @type {Started} */
  const started = {
    name,
    pid,
    identity: identityOf(pid) ?? '',
    signals,
    at: performance.timeOrigin + performance.now(),
  }
  writeFileSync(join(directory, `${name}-${pid}.pid.json`), JSON.stringify(started), { mode: 0o600 })
  if (output !== undefined) child.unref()
  return { pid, log, ended }
}

/** @param {string} file @returns {Started[]} */
function parse(file) {
  try {
    return [JSON.parse(readFileSync(file, 'utf8'))]
  } catch {
    // Killed between opening and writing it.
    return []
  }
}
