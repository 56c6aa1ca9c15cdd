// A program for test/services.test.ts: it starts a PostgreSQL through the door of `npm test`, says who it is and where, and waits to be ended.
import { chosen } from '../../scripts/services/index.mjs'
import { withServices } from '../../scripts/with-services.mjs'

process.exitCode = await withServices({
  name: 'holder',
  services: chosen(['postgres']),
  args: () => ['--eval', 'console.log(process.ppid, process.env.ONCEKEY_TEST_POSTGRES); setInterval(() => {}, 1000)'],
  env: { ...process.env, ONCEKEY_TEST_POSTGRES: '' },
})
