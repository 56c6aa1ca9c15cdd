// PgBouncer in transaction mode: whoever relies on a session (advisory locks, SET, LISTEN) is found out behind it.
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { install, unprivileged } from './account.mjs'
import { accepts, becomes, freePort } from './process.mjs'

/** @type {import('./index.mjs').Service} */
export const pgbouncer = {
  name: 'pgbouncer',
  variable: 'ONCEKEY_TEST_PGBOUNCER',
  long: true,
  async start(run, urls) {
    const behind = urls.ONCEKEY_TEST_POSTGRES
    if (behind === undefined) return { missing: 'no PgBouncer without a PostgreSQL' }
    const program = find() ?? (install('pgbouncer') ? find() : undefined)
    if (program === undefined)
      return { missing: 'no PgBouncer on the machine (install it, or set ONCEKEY_TEST_PGBOUNCER)' }
    const account = unprivileged()
    const folder = join(run.directory, 'pgbouncer')
    mkdirSync(folder, { mode: 0o700 })
    const port = await freePort()
    const file = join(folder, 'pgbouncer.ini')
    writeFileSync(file, configuration(new URL(behind), port))
    if (account !== undefined) for (const path of [folder, file]) chownSync(path, account.uid, account.gid)
    const launched = run.launch('pgbouncer', program, [file], { account, signals: ['SIGTERM', 'SIGKILL'] })
    if (!(await becomes(launched, () => accepts(port)))) throw new Error(`PgBouncer did not start: see ${launched.log}`)
    const url = new URL(behind)
    url.hostname = '127.0.0.1'
    url.port = String(port)
    return { url: url.href }
  },
}

/** The star lets a test reach the database it made for itself. @param {URL} behind @param {number} port */
function configuration({ hostname, port: behind, username, password }, port) {
  const user = `user=${decodeURIComponent(username)}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}`
  return `[databases]
* = host=${hostname} port=${behind || 5432} ${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 40
ignore_startup_parameters = extra_float_digits,options
server_reset_query_always = 0
`
}

function find() {
  // Debian puts it where a plain user's PATH does not look.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))
}
