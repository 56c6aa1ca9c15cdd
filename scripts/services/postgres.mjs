// PostgreSQL for tests: a server of our own, loopback only and durable as in production, because crashes are what is tested.
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { unprivileged } from './account.mjs'
import { postgresPrograms } from './postgres-programs.mjs'
import { becomes, execute, freePort } from './process.mjs'
import { stateFolder } from './run.mjs'

/** @typedef {import('./account.mjs').Account} Account */

// 200 racers, a pool of observers, and room for a second test file beside them.
const connections = 400

/** @type {import('./index.mjs').Service} */
export const postgres = {
  name: 'postgres',
  variable: 'ONCEKEY_TEST_POSTGRES',
  async start(run) {
    const account = unprivileged()
    const programs = postgresPrograms(account)
    if (typeof programs === 'string') return { missing: programs }
    return serverOf(programs, run, account)
  },
}

/**
 * A server of these programs, for as long as the run lasts.
 * @param {import('./postgres-programs.mjs').Programs} programs @param {import('./run.mjs').Run} run
 * @param {Account} [account] @param {Readonly<Record<string, string>>} [others] settings in place of the usual ones
 * @returns {Promise<{ readonly url: string }>}
 */
export async function serverOf(programs, run, account = unprivileged(), others = {}) {
  const data = join(run.directory, `postgres-${programs.version}`)
  copyOf(template(programs, account), data, account)
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    const launched = run.launch(
      'postgres',
      join(programs.folder, 'postgres'),
      ['-D', data, ...settings(port, others)],
      {
        account,
        // Fast, then immediate shutdown; the kill comes last because it leaves shared memory behind.
        signals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
      },
    )
    if (await becomes(launched, () => isReady(data))) return { url: `postgres://oncekey@127.0.0.1:${port}/postgres` }
    const said = existsSync(launched.log) ? readFileSync(launched.log, 'utf8') : ''
    // Somebody may take the port between our asking and our using it.
    if (attempt === 3 || !/address already in use/i.test(said)) throw new Error(`PostgreSQL did not start:\n${said}`)
  }
}

/** @param {number} port @param {Readonly<Record<string, string>>} others */
function settings(port, others) {
  const chosen = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: connections,
    fsync: 'on',
    log_min_messages: 'fatal',
    log_min_error_statement: 'panic',
    ...others,
  }
  return Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** The last line of the pid file says how far the start got. @param {string} data */
function isReady(data) {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

/**
 * An empty cluster, made once per version: `initdb` costs 1 to 3 s, a copy a tenth of that.
 * @param {import('./postgres-programs.mjs').Programs} programs @param {Account | undefined} account
 */
function template({ folder, version }, account) {
  const ready = join(stateFolder(), `postgres-template-${version}-${account?.name ?? 'self'}`)
  if (existsSync(ready)) return ready
  const draft = `${ready}.${process.pid}`
  own(draft, account)
  const args = ['-D', draft, '-U', 'oncekey', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  const made = execute(join(folder, 'initdb'), args, account)
  if (!made.ok) throw new Error(`initdb failed: ${made.why}`)
  try {
    renameSync(draft, ready)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(ready)) throw error
  }
  return ready
}

/** @param {string} source @param {string} target @param {Account | undefined} account */
function copyOf(source, target, account) {
  own(target, account)
  const copied = execute('cp', ['-R', '-p', `${source}/.`, target], account)
  if (!copied.ok) throw new Error(`The empty cluster could not be copied: ${copied.why}`)
}

/** @param {string} folder @param {Account | undefined} account */
function own(folder, account) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  if (account !== undefined) chownSync(folder, account.uid, account.gid)
  chmodSync(folder, 0o700)
}
