// MariaDB for tests: a server of our own, loopback only and durable as in production, because crashes are what is tested.
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { install, unprivileged } from './account.mjs'
import { accepts, becomes, execute, freePort } from './process.mjs'
import { stateFolder } from './run.mjs'

/** @typedef {import('./account.mjs').Account} Account */
/** @typedef {{ readonly server: string, readonly initialise: string, readonly version: string }} Programs */

// Two processes of a hundred callers each, and whoever watches them.
const connections = 400

/** @type {import('./index.mjs').Service} */
export const mariadb = {
  name: 'mariadb',
  variable: 'ONCEKEY_TEST_MARIADB',
  long: true,
  async start(run) {
    const account = unprivileged()
    const programs = find(account) ?? (install('mariadb-server') ? find(account) : undefined)
    if (programs === undefined)
      return { missing: 'no MariaDB on the machine (install mariadb-server, or set ONCEKEY_TEST_MARIADB)' }
    const folder = join(run.directory, 'mariadb')
    copyOf(template(programs, account), folder, account)
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort()
      const launched = run.launch('mariadb', programs.server, settings(folder, port), {
        account,
        signals: ['SIGTERM', 'SIGKILL'],
      })
      if (await becomes(launched, () => accepts(port))) return { url: `mysql://root@127.0.0.1:${port}/mysql` }
      const said = existsSync(launched.log) ? readFileSync(launched.log, 'utf8') : ''
      // Somebody may take the port between our asking and our using it.
      if (attempt === 3 || !/address already in use/i.test(said)) throw new Error(`MariaDB did not start:\n${said}`)
    }
  },
}

/** @param {string} folder @param {number} port */
function settings(folder, port) {
  const chosen = {
    datadir: folder,
    // No file of ours in a standard place; a socket is not asked for by anybody.
    socket: join(folder, 's'),
    'pid-file': join(folder, 'pid'),
    'bind-address': '127.0.0.1',
    port,
    'max-connections': connections,
    'innodb-flush-log-at-trx-commit': 1,
    'innodb-buffer-pool-size': '64M',
    'skip-name-resolve': 1,
    'skip-log-bin': 1,
    'performance-schema': 0,
    'log-warnings': 1,
  }
  return ['--no-defaults', ...Object.entries(chosen).map(([name, value]) => `--${name}=${value}`)]
}

/**
 * An empty data folder, made once per version: `mariadb-install-db` costs seconds, a copy a tenth of that.
 * @param {Programs} programs @param {Account | undefined} account
 */
function template({ initialise, version }, account) {
  const ready = join(stateFolder(), `mariadb-template-${version}-${account?.name ?? 'self'}`)
  if (existsSync(ready)) return ready
  const draft = `${ready}.${process.pid}`
  own(draft, account)
  const args = ['--no-defaults', `--datadir=${draft}`, '--auth-root-authentication-method=normal', '--skip-test-db']
  const made = execute(initialise, [...args, '--innodb-log-file-size=32M'], account)
  if (!made.ok) throw new Error(`mariadb-install-db failed: ${made.why}`)
  try {
    renameSync(draft, ready)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(ready)) throw error
  }
  return ready
}

/** @param {Account | undefined} account @returns {Programs | undefined} */
function find(account) {
  // Debian puts the server where a plain user's PATH does not look.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const at = (/** @type {string} */ name) =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  const server = at('mariadbd')
  const initialise = at('mariadb-install-db')
  if (server === undefined || initialise === undefined) return undefined
  const asked = execute(server, ['--no-defaults', '--version'], account)
  return asked.ok ? { server, initialise, version: asked.stdout.match(/\d+\.\d+\.\d+/)?.[0] ?? 'unknown' } : undefined
}

/** @param {string} source @param {string} target @param {Account | undefined} account */
function copyOf(source, target, account) {
  own(target, account)
  const copied = execute('cp', ['-R', '-p', `${source}/.`, target], account)
  if (!copied.ok) throw new Error(`The empty data folder could not be copied: ${copied.why}`)
}

/** @param {string} folder @param {Account | undefined} account */
function own(folder, account) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  if (account !== undefined) chownSync(folder, account.uid, account.gid)
  chmodSync(folder, 0o700)
}
