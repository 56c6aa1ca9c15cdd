// A pid alone proves nothing: it may have been given to another process since. Its start time settles whose it is.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {{ readonly name: string, readonly pid: number, readonly identity: string, readonly signals: readonly NodeJS.Signals[],
 *   readonly at: number }} Started
 */

// Postgres on a loaded disk has been seen to need seconds for its last checkpoint.
const patience = 8_000

/** @param {number} pid @returns {string | undefined} the same for as long as that process lives, undefined when it is gone */
export function identityOf(pid) {
  const born = bornAt(pid)
  return born === undefined ? undefined : createHash('sha256').update(`${pid} ${born}`).digest('hex').slice(0, 12)
}

/** @param {Started} started */
export const isAlive = ({ pid, identity }) => identity !== '' && identityOf(pid) === identity

/** @param {readonly Started[]} all */
export async function stopAll(all) {
  let ended = 0
  for (const started of all) if (await stop(started)) ended += 1
  return ended
}

/** The last resort of an exiting process, which cannot wait. @param {Started} started */
export function stopNow(started) {
  if (isAlive(started)) signal(started.pid, started.signals.at(-2) ?? 'SIGKILL')
}

export async function freePort() {
  const server = createServer()
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('The OS gave no port')
  return address.port
}

/** @param {number} port @returns {Promise<boolean>} */
export function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/**
 * Waits until a started process is ready; false when it ended first.
 * @param {{ readonly ended: Promise<number> }} launched @param {() => boolean | Promise<boolean>} ready @param {number} [limit] ms
 */
export async function becomes(launched, ready, limit = 30_000) {
  let ended = false
  const mark = () => {
    ended = true
  }
  launched.ended.then(mark, mark)
  for (const until = Date.now() + limit; Date.now() < until && !ended; ) {
    if (await ready()) return true
    await sleep(20)
  }
  return false
}

/** Runs a short command to its end. @param {string} command @param {readonly string[]} args @param {import('./account.mjs').Account} [account] */
export function execute(command, args, account) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: tmpdir(),
    encoding: 'utf8',
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  })
  return { ok: status === 0, stdout: stdout ?? '', why: error?.message ?? stderr?.trim() ?? '' }
}

/** @param {Started} started */
async function stop(started) {
  if (!isAlive(started)) return false
  for (const name of started.signals) {
    signal(started.pid, name)
    for (const until = Date.now() + patience; Date.now() < until; await sleep(15)) if (!isAlive(started)) return true
  }
  throw new Error(`${started.name} (pid ${started.pid}) would not end`)
}

/** @param {number} pid @param {NodeJS.Signals} name */
function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
  }
}

/** @param {number} pid @returns {string | undefined} */
function bornAt(pid) {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim() || undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name may hold spaces and brackets: fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, start] = [fields[0], fields[19]]
    return state === 'Z' ? undefined : `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${start}`
  } catch {
    return undefined
  }
}
