// The services that tests run against: each is one file with a name, an environment variable and a way to start.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dynamodb } from './dynamodb.mjs'
import { mariadb } from './mariadb.mjs'
import { pgbouncer } from './pgbouncer.mjs'
import { postgres } from './postgres.mjs'
import { isAlive } from './process.mjs'
import { redis } from './redis.mjs'
import { end, keptFolder, openRun, reap, startedIn } from './run.mjs'

/**
 * @typedef {Record<string, string | undefined>} Urls by environment variable
 * @typedef {import('./run.mjs').Run} Run
 * @typedef {{ readonly url: string } | { readonly missing: string }} Found
 * `long`: only tests of the long tier need it, so that `npm test` does not start it.
 * @typedef {{ readonly name: string, readonly variable: string, readonly long?: boolean,
 *   start(run: Run, urls: Urls): Promise<Found> }} Service
 * @typedef {{ readonly urls: Urls, readonly missing: Readonly<Record<string, string>> }} Running
 */

/** A service that stands in front of another comes after it. @type {readonly Service[]} */
export const services = [postgres, pgbouncer, mariadb, redis, dynamodb]

/** @param {readonly string[]} names @returns {readonly Service[]} */
export function chosen(names) {
  if (names.length === 0) return services
  return names.map((name) => {
    const service = services.find((candidate) => candidate.name === name)
    if (service === undefined)
      throw new Error(`Unknown service ${name}: ${services.map((known) => known.name).join(', ')}`)
    return service
  })
}

/**
 * Starts what the environment does not already name. With CI=true a missing service is a fault: a green run must not be an empty one.
 * @param {Run} run @param {readonly Service[]} wanted @param {Urls} [given] @returns {Promise<Running>}
 */
export async function start(run, wanted = services, given = process.env) {
  await reap()
  /** @type {Urls} */
  const urls = {}
  /** @type {Record<string, string>} */
  const missing = {}
  for (const service of wanted) {
    const named = given[service.variable]
    const found = named === undefined || named === '' ? await service.start(run, { ...given, ...urls }) : { url: named }
    if ('url' in found) urls[service.variable] = found.url
    else if (process.env.CI === 'true') throw new Error(`CI=true and ${service.name} is missing: ${found.missing}`)
    else missing[service.variable] = found.missing
  }
  return { urls, missing }
}

/** The services that `up` keeps, when they are still alive. @returns {Running | undefined} */
export function keptServices() {
  const file = join(keptFolder(), 'running.json')
  const started = startedIn(keptFolder())
  return existsSync(file) && started.length > 0 && started.every(isAlive)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : undefined
}

export async function up(wanted = services) {
  const before = keptServices()
  if (before !== undefined) return before
  await down()
  mkdirSync(keptFolder(), { recursive: true, mode: 0o711 })
  const run = openRun({ keep: true })
  try {
    const running = await start(run, wanted)
    writeFileSync(join(keptFolder(), 'running.json'), JSON.stringify(running), { mode: 0o600 })
    return running
  } catch (error) {
    await run.stop()
    throw error
  }
}

export async function down() {
  const ended = await end(keptFolder())
  rmSync(keptFolder(), { recursive: true, force: true })
  return ended
}
