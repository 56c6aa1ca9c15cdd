// What the demo and the benchmark share: a built program, its flags, and a PostgreSQL where one is asked for.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chosen } from './services/index.mjs'
import { redisForMeasuring } from './services/redis.mjs'
import { setup } from './setup.mjs'
import { withServices } from './with-services.mjs'

/**
 * Flags are passed through; `--store postgres` becomes `--store postgres://...`.
 * @param {string} name @param {string} path from the root @param {{ readonly always?: boolean }} [options] `always`: start PostgreSQL and Redis unasked
 */
export async function runProgram(name, path, { always = false } = {}) {
  setup()
  const program = fileURLToPath(new URL(`../${path}`, import.meta.url))
  if (!existsSync(program)) throw new Error(`${path} is not there: has its source been written?`)
  const flags = process.argv.slice(2)
  const asked = flags.some(
    (flag, at) => flag === '--store=postgres' || (flag === 'postgres' && flags[at - 1] === '--store'),
  )
  return withServices({
    name,
    services: [...(asked || always ? chosen(['postgres']) : []), ...(always ? [redisForMeasuring] : [])],
    args: ({ urls, missing }) => {
      const url = urls.ONCEKEY_TEST_POSTGRES
      if (asked && url === undefined) throw new Error(missing.ONCEKEY_TEST_POSTGRES)
      return [program, ...(url === undefined ? flags : flags.map((flag, at) => named(flag, flags[at - 1], url)))]
    },
  })
}

/** @param {string} flag @param {string | undefined} before @param {string} url */
function named(flag, before, url) {
  if (flag === '--store=postgres') return `--store=${url}`
  return flag === 'postgres' && before === '--store' ? url : flag
}
