// `npm test`: set up, start the services, run the tests with their addresses, end everything, keep the exit code.
import { fileURLToPath } from 'node:url'
import { services } from './services/index.mjs'
import { setup } from './setup.mjs'
import { withServices } from './with-services.mjs'

const args = process.argv.slice(2)
const rest = args.filter((arg) => arg !== '--all')

setup()
process.exitCode = await withServices({
  name: 'vitest',
  services,
  args: () => [fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)), 'run', ...rest],
  env: { ...process.env, ...(rest.length < args.length ? { ONCEKEY_TEST_ALL: '1' } : {}) },
})
