// Redis or Valkey for tests: a server of our own, loopback only, whose append-only file outlives a kill, as in production.
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { install, unprivileged } from './account.mjs'
import { becomes, execute, freePort } from './process.mjs'

/** @typedef {import('./run.mjs').Run} Run */

/** @type {import('./index.mjs').Service} */
export const redis = {
  name: 'redis',
  variable: 'ONCEKEY_TEST_REDIS',
  async start(run) {
    const program = redisProgram()
    if (program === undefined)
      return { missing: 'no Redis on the machine (install redis-server, or set ONCEKEY_TEST_REDIS)' }
    const { url } = await redisServer(run, { program })
    return { url }
  },
}

/** As people run it; with `always` a benchmark would mostly show the disk. @type {import('./index.mjs').Service} */
export const redisForMeasuring = {
  ...redis,
  async start(run) {
    const program = redisProgram()
    if (program === undefined) return { missing: 'no Redis on the machine' }
    const { url } = await redisServer(run, { program, settings: ['--appendfsync', 'everysec'] })
    return { url }
  },
}

/** @returns {string | undefined} */
export function redisProgram() {
  return find() ?? (install('redis-server') ? find() : undefined)
}

/**
 * A server for as long as the run lasts; the same `name` and `port` again is the same data, started again.
 * @param {Run} run
 * @param {{ readonly program: string, readonly name?: string, readonly port?: number, readonly settings?: readonly string[] }} options
 * @returns {Promise<{ readonly url: string, readonly port: number, readonly pid: number, readonly ended: Promise<number> }>}
 */
export async function redisServer(run, { program, name = 'redis', port: wanted, settings = [] }) {
  const account = unprivileged()
  const data = join(run.directory, `${name}-data`)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  if (account !== undefined) chownSync(data, account.uid, account.gid)
  for (let attempt = 1; ; attempt += 1) {
    const port = wanted ?? (await freePort())
    const launched = run.launch(name, program, [...configuration(port, data), ...settings], { account })
    if (await becomes(launched, () => answers(port)))
      return { url: `redis://127.0.0.1:${port}`, port, pid: launched.pid, ended: launched.ended }
    const said = existsSync(launched.log) ? readFileSync(launched.log, 'utf8') : ''
    // Somebody may take the port between our asking and our using it.
    if (attempt === 3 || wanted !== undefined || !/address already in use/i.test(said))
      throw new Error(`Redis did not start:\n${said}`)
  }
}

/** `always`: what was answered is on the disk, so that a killed server is a fair one. @param {number} port @param {string} data */
function configuration(port, data) {
  return [
    ...['--bind', '127.0.0.1', '--port', String(port), '--protected-mode', 'yes'],
    ...['--dir', data, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'],
    ...['--daemonize', 'no', '--loglevel', 'notice'],
  ]
}

/** An open port is not enough: while it reads its file, a server answers LOADING. @param {number} port */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    const end = (/** @type {boolean} */ answer) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, () => end(false))
    socket.once('connect', () => socket.write('PING\r\n'))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
    socket.on('data', (piece) => {
      said += piece
      if (said.includes('\r\n')) end(said.startsWith('+PONG'))
    })
  })
}

/** @returns {string | undefined} */
function find() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  const names = ['redis-server', 'valkey-server']
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path) && execute(path, ['--version']).ok)
}
