/** `sqlite:payments.db`, `sqlite:/var/lib/payments.db` and `sqlite:///var/lib/payments.db`. */
import { OncekeyError } from '../core/errors.ts'
import type { SqliteDriver } from '../stores/sqlite/driver.ts'
import { afterOf, durationsOf, loadDriver, type Opener } from './opener.ts'

export const openSqlite: Opener = {
  modes: ['transaction', 'lease'],
  async open(url, options) {
    const path = pathOf(url)
    const { name, module } = await loadDriver(DRIVERS, options.driver)
    const { sqlite } = await import('../stores/sqlite/index.ts')
    const exported = module as { default: SqliteDriver; DatabaseSync?: SqliteDriver }
    const driver = name === 'node:sqlite' ? (exported.DatabaseSync as SqliteDriver) : exported.default
    const common = { driver, prefix: `${options.schema ?? 'oncekey'}_`, ...durationsOf(options) }
    return options.mode === 'lease'
      ? sqlite(path, { ...common, mode: 'lease', ...afterOf(options) })
      : sqlite(path, common)
  },
}

// Names that no compiler and no bundler follows: none of them is a dependency of ours.
const BETTER_SQLITE3: string = 'better-sqlite3'
const NODE_SQLITE: string = 'node:sqlite'
const DRIVERS = [
  { name: 'libsql', load: () => import('libsql') },
  { name: 'better-sqlite3', load: () => import(BETTER_SQLITE3) },
  { name: 'node:sqlite', load: () => import(NODE_SQLITE) },
] as const

function pathOf(url: string): string {
  const rest = url.slice(url.indexOf(':') + 1)
  if (!rest.startsWith('//')) return rest
  // With two slashes it is a URL, and what stands between the second and the third is a host.
  if (rest.startsWith('///')) return decodeURIComponent(rest.slice(2))
  throw new OncekeyError('INVALID_OPTION', {
    what: 'The address of a SQLite file names a host.',
    where: 'openStore',
    why: 'A file is opened by this machine; elsewhere its locks would mean nothing.',
    fix: 'Write sqlite:payments.db for a path from here, sqlite:///var/lib/payments.db for one from the root.',
  })
}
