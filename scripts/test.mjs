// `npm test`: set up, start the services, run the tests with their addresses, end everything, keep the exit code.
import { fileURLToPath } from 'node:url'
import { services } from './services/index.mjs'
import { setup } from './setup.mjs'
import { withServices } from './with-services.mjs'

const args = process.argv.slice(2)
const rest = args.filter((arg) => arg !== '--all')
const all = rest.length < args.length || process.env.ONCEKEY_TEST_ALL === '1'
const wanted = all ? services : services.filter(({ long }) => !long)
const unwanted = services.filter((service) => !wanted.includes(service))

setup()
process.exitCode = await withServices({
  name: 'vitest',
  services: wanted,
  args: () => [fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)), 'run', ...rest],
  env: {
    ...process.env,
    ...(all ? { ONCEKEY_TEST_ALL: '1' } : {}),
    ...Object.fromEntries(
      unwanted.map(({ variable }) => [`${variable}_MISSING`, 'it is started for npm run test:all']),
    ),
  },
})
