// Prisma and TypeORM install apart from us, in their examples: each is installed from its lock, type-checked and held to the store contract.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { command, node, root, type Said } from './support/command.ts'
import { describePostgres, freshDatabase } from './support/postgres.ts'

const minutes = 60_000

describePostgres.each(['prisma', 'typeorm'])('examples/%s', (name) => {
  const folder = join(root, 'examples', name)
  const fresh = freshDatabase()

  beforeAll(async () => {
    await install(folder)
    await generate(folder)
  }, 5 * minutes)

  it('fits its own types', async () => {
    const { code, output } = await node(['../../node_modules/typescript7/bin/tsc', '-p', 'tsconfig.json'], {
      cwd: folder,
    })
    expect(code, output).toBe(0)
  })

  it('runs', async () => {
    const env = { ...process.env, DATABASE_URL: fresh.url }
    const { code, output, stdout } = await node(['--import', 'tsx', 'src/main.ts'], { cwd: folder, env })
    expect(code, output).toBe(0)
    expect(stdout).toMatch(/kind: 'ran'[\s\S]*kind: 'replayed'[\s\S]*1 account/)
  })

  it.each(['contract', 'work'])(
    'test/%s: every test passes',
    async (file) => {
      const args = ['--import', 'tsx', '--test', '--test-reporter', 'spec', `test/${file}.ts`]
      const { code, output, stdout } = await node(args, { cwd: folder })
      expect(code, output).toBe(0)
      expect(Number(/ℹ pass (\d+)/.exec(stdout)?.[1])).toBeGreaterThan(5)
    },
    3 * minutes,
  )
})

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
