// Servers refuse to run as root: as root they are started under an account without rights, which is made when there is none.
import { execute } from './process.mjs'

/** @typedef {{ readonly uid: number, readonly gid: number, readonly name: string }} Account */

export const isRoot = process.getuid?.() === 0

// Packages are installed only where that is expected: on a CI machine, or when somebody asked for it.
export const mayInstall = isRoot && (process.env.CI === 'true' || process.env.ONCEKEY_TEST_INSTALL === '1')

/** @returns {Account | undefined} undefined: run as the one who asks */
export function unprivileged() {
  if (!isRoot) return undefined
  for (const name of ['postgres', 'oncekey-test']) {
    const account = lookUp(name)
    if (account !== undefined) return account
  }
  execute('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', '--user-group', 'oncekey-test'])
  const made = lookUp('oncekey-test')
  if (made === undefined)
    throw new Error('Running as root, and no account without rights could be made: useradd failed')
  return made
}

/** @param {readonly string[]} packages @returns {boolean} */
export function install(...packages) {
  if (!mayInstall) return false
  // Runlevel 1 keeps the package's own scripts from starting a server on a standard port.
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1']
  const args = ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages]
  return execute('/usr/bin/env', [...env.slice(1), ...args]).ok
}

/** @param {string} name @returns {Account | undefined} */
function lookUp(name) {
  const uid = execute('id', ['-u', name])
  const gid = execute('id', ['-g', name])
  return uid.ok && gid.ok ? { uid: Number(uid.stdout), gid: Number(gid.stdout), name } : undefined
}
