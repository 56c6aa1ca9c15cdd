// Where tests are found, and how `oncekey/...` reaches the sources: tests never run against a stale build.
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { closingLine } from './test/support/closing-line.ts'

const everything = process.env.ONCEKEY_TEST_ALL === '1'

export default defineConfig({
  resolve: { alias: sourceAliases() },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'examples/*/src/**/*.test.ts',
      'bench/src/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    exclude: [...configDefaults.exclude, '**/dist/**', ...(everything ? [] : ['**/*.all.test.ts'])],
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', closingLine({ matrix: everything })],
    // Most tests wait for servers, leases and processes: one more than the cores keeps those busy.
    maxWorkers: availableParallelism() + 1,
    // A real Postgres on a busy two-core machine answers late now and then; a hang still ends the run.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // In CI a test may try twice, since its neighbours share two cores; the report says which did, and that is to be looked into.
    retry: process.env.CI === 'true' ? 1 : 0,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts'],
    },
  },
})

function sourceAliases() {
  const root = new URL('./packages/oncekey/', import.meta.url)
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    exports: Record<string, string | { readonly default: string }>
  }
  return Object.entries(exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const source = new URL(target.default.replace('/dist/', '/src/').replace(/\.js$/, '.ts'), root)
    if (!existsSync(source)) return []
    return [{ find: new RegExp(`^oncekey${subpath.slice(1)}$`), replacement: fileURLToPath(source) }]
  })
}
