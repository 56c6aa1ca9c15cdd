// `npm run check`: format, lint, types and layers, without a single test; the same steps run as tests in test/lint.test.ts.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { checks } from './checks.mjs'
import { setup } from './setup.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))

setup()
for (const [name, args] of Object.entries(checks)) {
  console.log(`> ${name}`)
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
