// Prisma and TypeORM install apart from us, in their examples: each is installed from its lock, type-checked and held to the store contract.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { storeContract } from '../packages/oncekey/src/testing/store-contract.ts'
import { command, node, root, type Said } from './support/command.ts'
import { SHOWN } from './support/contract-shown.ts'
import { describeMariadb } from './support/mariadb.ts'
import { describePostgres, freshDatabase } from './support/postgres.ts'

const minutes = 60_000
const prisma = join(root, 'examples/prisma')
const typeorm = join(root, 'examples/typeorm')

describePostgres.each([
  { folder: prisma, through: 'Prisma' },
  { folder: typeorm, through: 'TypeORM' },
])('the example of $through', ({ folder, through }) => {
  const fresh = freshDatabase()
  installed(folder)

  it('fits its own types', async () => {
    succeeded(await node(['../../node_modules/typescript7/bin/tsc', '-p', 'tsconfig.json'], { cwd: folder }))
  })

  it('runs', async () => {
    const env = { ...process.env, DATABASE_URL: fresh.url }
    const said = await node(['--import', 'tsx', 'src/main.ts'], { cwd: folder, env })
    succeeded(said)
    expect(said.stdout).toMatch(/kind: 'ran'[\s\S]*kind: 'replayed'[\s\S]*1 account/)
  })

  it('what the work may do', () => passes(folder, 'work'), 2 * minutes)

  contractOf(folder, 'contract', `Postgres, transaction mode, by ${through}`)
})

describeMariadb('the example of TypeORM, on MariaDB', () => {
  installed(typeorm)

  it('what the work may do', () => passes(typeorm, 'mariadb-work'), 2 * minutes)

  contractOf(typeorm, 'mariadb-contract', 'MariaDB, transaction mode, by TypeORM')
})

/** Runs the contract in the example, and shows each rule as a test of this run. */
function contractOf(folder: string, file: string, name: string): void {
  describe('the contract', () => {
    let said: Said
    beforeAll(async () => {
      said = await tested(folder, file)
    }, 4 * minutes)

    const shown = Object.assign((rule: string) => it(rule, () => expect(verdictOn(rule), said.output).toBe('ok')), {
      skip: it.skip,
    })
    const never = () => Promise.reject(new Error('it runs in the example'))
    storeContract(never, { ...SHOWN, name }, { runner: { describe, it: shown } })

    function verdictOn(rule: string): string | undefined {
      const lines = said.stdout.split('\n').map((line) => /^\s*(ok|not ok) \d+ - (.*)$/.exec(line))
      return lines.find((line) => line?.[2]?.replaceAll('\\#', '#') === rule)?.[1]
    }
  })
}

async function passes(folder: string, file: string): Promise<void> {
  const said = await tested(folder, file)
  succeeded(said)
  expect(Number(/# pass (\d+)/.exec(said.stdout)?.[1])).toBeGreaterThan(3)
}

function tested(folder: string, file: string): Promise<Said> {
  const args = ['--import', 'tsx', '--test', '--test-reporter', 'tap', `test/${file}.ts`]
  return node(args, { cwd: folder })
}

function installed(folder: string): void {
  beforeAll(async () => {
    await install(folder)
    await generate(folder)
  }, 5 * minutes)
}

/** Only where the lock is another than the one that was installed. */
async function install(folder: string): Promise<void> {
  const stamp = join(folder, 'node_modules/.cache/oncekey-installed')
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  const env = { ...process.env, NODE_ENV: 'development' }
  succeeded(await command('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, env }))
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, hash)
}

/** What Prisma makes from its schema; quick, so that it is never stale. Its engine for migrations is not needed, and not fetched. */
async function generate(folder: string): Promise<void> {
  if (!existsSync(join(folder, 'prisma.config.ts'))) return
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
  succeeded(await node(['node_modules/prisma/build/index.js', 'generate'], { cwd: folder, env }))
}

function succeeded({ code, output }: Said): void {
  expect(code, output).toBe(0)
}
