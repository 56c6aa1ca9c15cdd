// Makes a checkout ready: installs what the lock says, builds what changed. Does nothing when nothing changed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const stamps = join(root, 'node_modules/.cache/oncekey')

// In the order of their needs: an example compiles against what the library has emitted.
const workspaces = ['packages/oncekey', 'examples/payments', 'bench']

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) setup()

export function setup() {
  install()
  build()
}

function install() {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const hash = digest([lock])
  if (stampOf('installed') === hash) return
  if (!matches(lock)) run('npm', ['ci', '--no-audit', '--no-fund'])
  stamp('installed', hash)
}

function build() {
  let below = digest([readFileSync(join(root, 'tsconfig.base.json'), 'utf8'), stampOf('installed') ?? ''])
  for (const workspace of workspaces) {
    const folder = join(root, workspace)
    const sources = sourcesOf(join(folder, 'src'))
    if (sources.length === 0) continue
    const settings = ['package.json', 'tsconfig.build.json'].map((name) => readFileSync(join(folder, name), 'utf8'))
    below = digest([
      below,
      ...settings,
      ...sources.flatMap((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]),
    ])
    const name = `built-${workspace.replaceAll('/', '-')}`
    if (stampOf(name) !== below || !existsSync(join(folder, 'dist'))) {
      emit(folder)
      stamp(name, below)
    }
  }
  // npm packs a package's own README and LICENSE, and follows no links.
  for (const name of ['README.md', 'LICENSE']) copyFileSync(join(root, name), join(root, 'packages/oncekey', name))
}

/** Emits beside the old build and then swaps, so that a program which runs now is not left without its modules. @param {string} folder */
function emit(folder) {
  const draft = join(folder, `dist-${process.pid}`)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  try {
    run(process.execPath, [compiler, '-p', join(folder, 'tsconfig.build.json'), '--outDir', draft])
    rmSync(join(folder, 'dist'), { recursive: true, force: true })
    renameSync(draft, join(folder, 'dist'))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Whether the lock's packages are what `npm` has installed, whoever installed them. @param {string} lock */
function matches(lock) {
  const file = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(file)) return false
  const installed = JSON.parse(readFileSync(file, 'utf8')).packages
  return Object.entries(JSON.parse(lock).packages).every(([path, wanted]) => {
    if (!path.includes('node_modules/')) return true
    const found = installed[path]
    return found === undefined ? wanted.optional === true || wanted.peer === true : found.version === wanted.version
  })
}

/** @param {string} folder @returns {string[]} */
function sourcesOf(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => join(folder, name))
}

/** @param {readonly string[]} parts */
function digest(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}

/** @param {string} name */
function stampOf(name) {
  const file = join(stamps, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** @param {string} name @param {string} value */
function stamp(name, value) {
  mkdirSync(stamps, { recursive: true })
  writeFileSync(join(stamps, name), value)
}

/** @param {string} command @param {readonly string[]} args */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error !== undefined) throw error
  if (status === 0) return
  console.error(`${command} ${args[0]} failed`)
  process.exit(status ?? 1)
}
