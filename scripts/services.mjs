// `up` keeps services for a day of development, `down` ends them, `status` says what runs.
import { chosen, down, keptServices, up } from './services/index.mjs'
import { reap } from './services/run.mjs'

const [command = 'status', ...names] = process.argv.slice(2)

switch (command) {
  case 'up':
    report(await up(chosen(names)))
    break
  case 'down':
    console.log(`${(await down()) + (await reap())} processes ended`)
    break
  case 'status':
    report(keptServices())
    break
  default:
    console.error('usage: node scripts/services.mjs up [name ...] | down | status')
    process.exitCode = 2
}

/** @param {import('./services/index.mjs').Running | undefined} running */
function report(running) {
  if (running === undefined) return console.log('Nothing is kept running: node scripts/services.mjs up')
  for (const [variable, url] of Object.entries(running.urls)) console.log(`${variable}=${url}`)
  for (const [variable, reason] of Object.entries(running.missing)) console.log(`# ${variable}: ${reason}`)
}
